import type { ReactNode } from 'react';
import { useRecorded } from '../../../stores/recorded.ts';
import { t } from '../../../text/text.ts';

/** The recorded run is on its way, or is not beside this page. */
export function NoRecord(): ReactNode {
  const { state } = useRecorded();
  return <p role="status">{t(state === 'missing' ? 'lesson.record.missing' : 'lesson.record.loading')}</p>;
}
