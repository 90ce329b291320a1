import type { ReactNode } from 'react';
import { Segments, type Segment } from '../../components/Segments.tsx';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import { Hideable } from '../../hiding/Hideable.tsx';
import { format, t } from '../../text/text.ts';
import { costsOf, NO_CALLS, NORMS, type Switches } from './switches.ts';
import styles from './Switches.module.css';

interface SwitchBarProps {
  readonly switches: Switches;
  readonly grpo: GrpoSettings;
  /** Whether a rule of the person's own has taken the place of the math rule. */
  readonly ruled: boolean;
  /** Whether the switches of the math rule mean something for these questions. */
  readonly math: boolean;
  readonly onChange: (next: Switches) => void;
}

/** How rewards are compared, and two questions that the paper's rule leaves open. One sentence for each. */
export function SwitchBar({ switches, grpo, ruled, math, onChange }: SwitchBarProps): ReactNode {
  const { norm, noCall, callCost } = switches;
  return (
    <>
      <Hideable name="advantage"><Switch label={t('group.norm')} value={norm} what={t(`group.norm.${norm}.what`)}
        items={NORMS.map((value) => ({ value, label: t(`group.norm.${value}`) }))}
        onChange={(value) => {
          onChange({ ...switches, norm: value });
        }} /></Hideable>
      {math && (
        <>
          <Hideable name="noCall"><Switch label={t('group.noCall')} value={ruled ? undefined : noCall} what={t(ruled ? 'group.switch.own' : `group.noCall.${noCall}.what`)}
            items={NO_CALLS.map((value) => ({ value, label: t(`group.noCall.${value}`) }))}
            onChange={(value) => {
              onChange({ ...switches, noCall: value });
            }} /></Hideable>
          <Hideable name="callCost"><Switch label={t('group.cost')} value={ruled ? undefined : String(callCost)} what={t(ruled ? 'group.switch.own' : 'group.cost.what')}
            items={costsOf(grpo).map((value) => ({ value: String(value), label: format.significant(value, 3) }))}
            onChange={(value) => {
              onChange({ ...switches, callCost: Number(value) });
            }} /></Hideable>
        </>
      )}
    </>
  );
}

interface SwitchProps<T extends string> {
  readonly label: string;
  readonly value: T | undefined;
  readonly items: readonly Segment<T>[];
  readonly what: string;
  readonly onChange: (value: T) => void;
}

function Switch<T extends string>({ label, value, items, what, onChange }: SwitchProps<T>): ReactNode {
  return (
    <div className={styles.switch}>
      <span className={styles.label} aria-hidden="true">{label}</span>
      <Segments label={label} value={value} items={items} onChange={onChange} />
      <p className={styles.what}>{what}</p>
    </div>
  );
}
