import type { ReactNode } from 'react';
import { t } from '../../text/text.ts';

export function RolloutView(): ReactNode {
  return <h1>{t('view.rollout')}</h1>;
}
