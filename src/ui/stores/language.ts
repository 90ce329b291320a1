/** The language of the page: chosen, remembered, loaded when it is needed. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { LANGUAGES, speak } from '../text/text.ts';
import { remember, remembered } from './memory.ts';

const languageStore = createStore<{ readonly code: string }>(() => ({ code: LANGUAGES[0].code }));

export function useLanguage(): string {
  return useStore(languageStore, (s) => s.code);
}

/** Loads a language and goes over to it; the one before stays where it cannot be loaded. */
export async function chooseLanguage(code: string): Promise<void> {
  const language = LANGUAGES.find((l) => l.code === code);
  if (language === undefined) return;
  const messages = await language.load().catch(() => undefined);
  if (messages === undefined) return;
  speak(code, messages);
  remember('language', code);
  document.documentElement.lang = code;
  languageStore.setState({ code });
}

/** The language that was chosen on an earlier visit. */
export function startLanguage(): Promise<void> {
  return chooseLanguage(remembered('language', LANGUAGES.map(({ code }) => code), LANGUAGES[0].code));
}
