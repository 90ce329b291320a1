/** The language of the page: the browser's or the person's, remembered, loaded when it is needed. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { LANGUAGES, speak, type LanguageCode } from '../text/text.ts';
import { remember, remembered } from './memory.ts';

const languageStore = createStore<{ readonly code: LanguageCode }>(() => ({ code: LANGUAGES[0].code }));

export function useLanguage(): LanguageCode {
  return useStore(languageStore, (s) => s.code);
}

/**
 * The first of the browser's languages that the page has.
 * @param wishes as in `navigator.languages`: BCP 47, the dearest first
 */
export function languageFor(wishes: readonly string[]): LanguageCode {
  for (const wish of wishes) {
    const tag = wish.toLowerCase();
    if (/^en\b/.test(tag)) return 'en';
    // The script decides; where it is not said, the region does.
    if (/^zh\b/.test(tag)) return /-hant\b/.test(tag) || (!/-hans\b/.test(tag) && /-(tw|hk|mo)\b/.test(tag)) ? 'zh-Hant' : 'zh-Hans';
  }
  return 'en';
}

async function goOver(code: LanguageCode): Promise<boolean> {
  try {
    await speak(code);
  } catch {
    return false;
  }
  document.documentElement.lang = code;
  languageStore.setState({ code });
  return true;
}

/** Loads a language and goes over to it; the one before stays where it cannot be loaded. */
export async function chooseLanguage(code: LanguageCode): Promise<void> {
  if (await goOver(code)) remember('language', code);
}

/** The language that was chosen on an earlier visit, else the browser's, else what can be loaded. */
export async function startLanguage(): Promise<void> {
  const code = remembered('language', LANGUAGES.map((l) => l.code), languageFor(navigator.languages));
  if (!(await goOver(code))) await goOver('en');
}
