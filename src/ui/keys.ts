/** Keys of the views that are on the screen. One list gives the handling, and what `?` shows. */
import { useEffect } from 'react';
import { createStore } from 'zustand/vanilla';

export interface KeyBinding {
  /** As in `KeyboardEvent.key`; several that do the same. */
  readonly keys: readonly string[];
  readonly label: string;
  /** Undefined: listed only, since a figure with the focus handles it by itself. */
  readonly run?: (key: string) => void;
}

/** What is bound now, by who bound it. */
export const bindings = createStore<{ readonly sets: readonly (readonly KeyBinding[])[] }>(() => ({ sets: [] }));

/** Where one types, or where a control has a use of its own for a key. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target.isContentEditable) return true;
  // A dialog or an open list has the keyboard to itself.
  if (target.closest('[role=dialog], [role=alertdialog], [role=listbox], [role=menu]') !== null) return true;
  // Space and Enter press what has the focus; arrows move sliders and choices.
  const role = target.getAttribute('role') ?? '';
  if (event.key === ' ' || event.key === 'Enter') return target.closest('button, a, summary, [role=option], [role=menuitem]') !== null;
  return event.key.startsWith('Arrow') && /slider|radio|option|menuitem|tab|combobox/.test(role);
}

/** Binds keys while the component is there. `set` must be stable (memoised). */
export function useKeys(set: readonly KeyBinding[]): void {
  useEffect(() => {
    bindings.setState(({ sets }) => ({ sets: [...sets, set] }));
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isTaken(event)) return;
      const binding = set.find(({ keys }) => keys.includes(event.key));
      if (binding?.run === undefined) return;
      event.preventDefault();
      binding.run(event.key);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
      bindings.setState(({ sets }) => ({ sets: sets.filter((other) => other !== set) }));
    };
  }, [set]);
}
