import { useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { t } from '../../text/text.ts';

/** Copies a text; the button itself says how it went, for a moment. */
export function Copy({ text }: { readonly text: string }): ReactNode {
  const [state, setState] = useState<'copy' | 'copied' | 'notCopied'>('copy');
  const say = (how: 'copied' | 'notCopied'): void => {
    setState(how);
    setTimeout(() => {
      setState('copy');
    }, 2000);
  };
  return (
    <Button onClick={() => {
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
    }}>{t(`tools.${state}`)}</Button>
  );
}
