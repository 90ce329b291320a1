import { useState, type ComponentProps, type ReactNode } from 'react';
import { Button } from './Button.tsx';
import { t } from '../text/text.ts';

/** Copies a text; the button itself says how it went, for a moment. */
export function Copy({ text, ...look }: { readonly text: string } & Pick<ComponentProps<typeof Button>, 'kind' | 'className'>): ReactNode {
  const [state, setState] = useState<'copy' | 'copied' | 'notCopied'>('copy');
  const say = (how: 'copied' | 'notCopied'): void => {
    setState(how);
    setTimeout(() => {
      setState('copy');
    }, 2000);
  };
  return (
    <Button {...look} onClick={() => {
      // A page that is not secure has no clipboard.
      const clipboard = navigator.clipboard as Clipboard | undefined;
      if (clipboard === undefined) say('notCopied');
      else {
        clipboard.writeText(text).then(() => {
          say('copied');
        }, () => {
          say('notCopied');
        });
      }
    }}>{t(`copy.${state}`)}</Button>
  );
}
