import type { ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Segments } from '../../components/Segments.tsx';
import { navigate } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { FlowPart } from './FlowPart.tsx';
import { parsePlace, PARTS, toolsAddress } from './place.ts';
import { PythonPart } from './PythonPart.tsx';
import { TaskChooser } from './TaskChooser.tsx';
import styles from './ToolsView.module.css';

/** What answers the calls of a policy, used by hand. */
export function ToolsView(): ReactNode {
  const place = parsePlace(useSearch());
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t('view.tools')}</h1>
      <div className={styles.parts}>
        <Segments label={t('tools.part')} value={place.part} items={PARTS.map((value) => ({ value, label: t(`tools.part.${value}`) }))} onChange={(part) => {
          navigate(toolsAddress({ part }));
        }} />
        {place.part !== 'python' && <TaskChooser key={place.part} place={place} domain={place.part} />}
      </div>
      {place.part === 'python' ? <PythonPart linked={place.code} /> : <FlowPart key={`${place.part} ${place.seed} ${place.task}`} place={place} domain={place.part} />}
    </div>
  );
}
