/** Light or dark: the system's choice, or the person's. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { paletteCss, type ThemeName } from '../theme/palette.ts';
import { remember, remembered } from './memory.ts';

export const THEME_CHOICES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

interface ThemeState {
  readonly choice: ThemeChoice;
  readonly theme: ThemeName;
}

const themeStore = createStore<ThemeState>(() => ({ choice: 'system', theme: 'light' }));

export function useTheme(): ThemeState {
  return useStore(themeStore);
}

export function chooseTheme(choice: ThemeChoice): void {
  remember('theme', choice);
  apply(choice);
}

function apply(choice: ThemeChoice): void {
  const dark = choice === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : choice === 'dark';
  const theme: ThemeName = dark ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
  themeStore.setState({ choice, theme });
}

/** Before the first paint: writes the palette into the page, and follows the system from then on. */
export function startTheme(): void {
  const style = document.createElement('style');
  style.textContent = paletteCss();
  document.head.append(style);
  apply(remembered('theme', THEME_CHOICES, 'system'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    apply(themeStore.getState().choice);
  });
}
