import type { ReactNode } from 'react';
import { t } from '../../text/text.ts';

export function UpdateView(): ReactNode {
  return <h1>{t('view.update')}</h1>;
}
