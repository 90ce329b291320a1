import { RadioGroup } from 'radix-ui';
import { useId, useState, type ReactNode } from 'react';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { Notice } from '../../components/Notice.tsx';
import { Segments } from '../../components/Segments.tsx';
import { SwitchField } from '../../components/SwitchField.tsx';
import { VARIANTS, type VariantName } from '../../../grpo/settings.ts';
import type { Control } from '../../hiding/controls.ts';
import { useHidden } from '../../hiding/useHidden.ts';
import type { RunSettings } from '../../../lab/protocol.ts';
import { draft, useDraft } from '../../stores/draft.ts';
import { useLab } from '../../stores/lab.ts';
import { t, type PlainKey } from '../../text/text.ts';
import { applies, FIELD_GROUPS, FIELDS, mostOf, nameOf, valueAt, type FieldPath, type GroupName } from './fields.ts';
import { differences, PRESET_SETTINGS, PRESETS, presetOf, variantOf, type Leaf } from './presets.ts';
import styles from './Setup.module.css';

const VARIANT_NAMES = Object.keys(VARIANTS) as VariantName[];

/** What the next run will be. */
export function Setup(): ReactNode {
  const settings = useDraft();
  const id = useId();
  const [open, setOpen] = useState(false);
  const variant = variantOf(settings.grpo);
  const run = useLab((s) => s.run);
  const hidden = useHidden();
  const shown = fieldsShown(hidden, settings);
  // A preset that would change a hidden setting is not offered.
  const presets = PRESETS.filter((name) => differences({ ...PRESET_SETTINGS[name], seed: settings.seed }, settings).every(({ path }) => !isField(path) || !hidden.has(nameOf(path))));
  const changed = run?.state === 'paused' && differences(settings, run.settings).length > 0;
  return (
    <section className={styles.setup} aria-label={t('setup.title')}>
      <div>
        {!hidden.has('presets') && <><h2 id={id} className={styles.heading}>{t('setup.presets')}</h2>
        <RadioGroup.Root
          className={styles.presets}
          aria-labelledby={id}
          value={presetOf(settings) ?? ''}
          onValueChange={(value) => {
            const name = PRESETS.find((p) => p === value);
            if (name !== undefined) draft.preset(name);
          }}
        >
          {presets.map((name) => (
            <RadioGroup.Item key={name} value={name} className={styles.preset}>
              <span className={styles.dot} aria-hidden="true" />
              <span className={styles.name}>{t(`preset.${name}`)}</span>
              <span className={styles.what}>{t(`preset.${name}.what`)}</span>
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root></>}
        {/* Below what is pressed: it must not move from under the pointer. */}
        {changed && <Notice kind="note">{t('train.changed')}</Notice>}
      </div>
      {!hidden.has('variant') && <div>
        <h2 className={styles.heading}>{t('setup.variant')}</h2>
        <Segments
          label={t('setup.variant')}
          value={variant}
          items={VARIANT_NAMES.map((value) => ({ value, label: t(`variant.${value}`) }))}
          onChange={draft.variant}
        />
        <p className={styles.note}>{t(variant === undefined ? 'variant.none' : `variant.${variant}.what`)}</p>
      </div>}
      {shown.length > 0 && <details onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}>
        <summary>{t('setup.all')}</summary>
        {open && shown.map(([group, paths]) => (
          <fieldset key={group} className={styles.fields}>
            <legend>{t(`set.${group}`)}</legend>
            {paths.map((path) => <Field key={path} path={path} />)}
          </fieldset>
        ))}
      </details>}
    </section>
  );
}

const isField = (path: string): path is FieldPath => FIELDS.has(path as FieldPath);

/** The fields of each group that apply and are not hidden; groups without any are left out. */
function fieldsShown(hidden: ReadonlySet<Control>, settings: RunSettings): (readonly [GroupName, readonly FieldPath[]])[] {
  return (Object.keys(FIELD_GROUPS) as GroupName[]).flatMap((group) => {
    const paths = (Object.keys(FIELD_GROUPS[group]) as FieldPath[]).filter((path) => applies(path, settings) && !hidden.has(nameOf(path)));
    return paths.length === 0 ? [] : [[group, paths] as const];
  });
}

function Field({ path }: { readonly path: FieldPath }): ReactNode {
  const settings = useDraft();
  const kind = FIELDS.get(path);
  const name = nameOf(path);
  const value = valueAt(settings, path);
  const common = {
    label: t(`set.${name}`),
    hint: t(`set.${name}.what`),
    onChange: (next: Leaf) => {
      draft.set(path, next);
    },
  };
  switch (kind?.kind) {
    case 'choice':
      return <ChoiceField {...common} value={String(value)} items={kind.values.map((item) => ({ value: item, label: t(`option.${name}.${item}` as PlainKey) }))} />;
    case 'switch':
      return <SwitchField {...common} value={value === true} />;
    case 'number':
      return (
        <NumberField
          {...common}
          value={Number(value)}
          least={kind.least}
          most={mostOf(kind, settings)}
          whole={kind.whole === true}
          {...(kind.unlimited === undefined ? {} : { unlimited: kind.unlimited })}
        />
      );
    case undefined:
      return null;
  }
}
