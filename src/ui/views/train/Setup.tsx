import { RadioGroup } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { Segments } from '../../components/Segments.tsx';
import { SwitchField } from '../../components/SwitchField.tsx';
import { NO_CLIP, VARIANTS, type VariantName } from '../../../grpo/settings.ts';
import { draft, useDraft } from '../../stores/draft.ts';
import { t } from '../../text/text.ts';
import { MODELS, PRESETS, presetOf, variantOf } from './presets.ts';
import styles from './Setup.module.css';

const VARIANT_NAMES = Object.keys(VARIANTS) as VariantName[];

/** What the next run will be. */
export function Setup(): ReactNode {
  const settings = useDraft();
  const id = useId();
  const variant = variantOf(settings.grpo);
  return (
    <section className={styles.setup} aria-label={t('setup.title')}>
      <div>
        <h2 id={id} className={styles.heading}>{t('setup.presets')}</h2>
        <RadioGroup.Root
          className={styles.presets}
          aria-labelledby={id}
          value={presetOf(settings) ?? ''}
          onValueChange={(value) => {
            const name = PRESETS.find((p) => p === value);
            if (name !== undefined) draft.preset(name);
          }}
        >
          {PRESETS.map((name) => (
            <RadioGroup.Item key={name} value={name} className={styles.preset}>
              <span className={styles.dot} aria-hidden="true" />
              <span className={styles.name}>{t(`preset.${name}`)}</span>
              <span className={styles.what}>{t(`preset.${name}.what`)}</span>
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root>
      </div>
      <div>
        <h2 className={styles.heading}>{t('setup.variant')}</h2>
        <Segments
          label={t('setup.variant')}
          value={variant}
          items={VARIANT_NAMES.map((value) => ({ value, label: t(`variant.${value}`) }))}
          onChange={draft.variant}
        />
        <p className={styles.note}>{t(variant === undefined ? 'variant.none' : `variant.${variant}.what`)}</p>
      </div>
      <details>
        <summary>{t('setup.all')}</summary>
        <AllSettings />
      </details>
    </section>
  );
}

function AllSettings(): ReactNode {
  const settings = useDraft();
  const { grpo } = settings;
  const { reward, optimizer } = grpo;
  return (
    <>
      <fieldset className={styles.fields}>
        <legend>{t('set.run')}</legend>
        <ChoiceField
          label={t('set.model')} hint={t('set.model.what')} value={settings.model}
          items={MODELS.map((value) => ({ value, label: t(`model.${value}`) }))}
          onChange={(model) => {
            draft.run({ model });
          }}
        />
        <NumberField label={t('set.seed')} hint={t('set.seed.what')} value={settings.seed} least={0} most={2 ** 31 - 1} whole onChange={(seed) => {
          draft.run({ seed });
        }} />
        <NumberField label={t('set.steps')} hint={t('set.steps.what')} value={settings.steps} least={1} most={10_000} whole onChange={(steps) => {
          draft.run({ steps });
        }} />
      </fieldset>
      <fieldset className={styles.fields}>
        <legend>{t('set.sampling')}</legend>
        <NumberField label={t('set.questions')} hint={t('set.questions.what')} value={grpo.questions} least={1} most={64} whole onChange={(questions) => {
          draft.grpo({ questions });
        }} />
        <NumberField label={t('set.group')} hint={t('set.group.what')} value={grpo.group} least={1} most={32} whole onChange={(group) => {
          draft.grpo({ group });
        }} />
        <NumberField label={t('set.temperature')} hint={t('set.temperature.what')} value={grpo.temperature} least={0.1} most={3} onChange={(temperature) => {
          draft.grpo({ temperature });
        }} />
        <NumberField label={t('set.maxCalls')} hint={t('set.maxCalls.what')} value={grpo.maxCalls} least={0} most={10} whole onChange={(maxCalls) => {
          draft.grpo({ maxCalls });
        }} />
        <NumberField label={t('set.maxLength')} hint={t('set.maxLength.what')} value={grpo.maxLength} least={32} most={160} whole onChange={(maxLength) => {
          draft.grpo({ maxLength });
        }} />
      </fieldset>
      <fieldset className={styles.fields}>
        <legend>{t('set.reward')}</legend>
        <ChoiceField
          label={t('set.noCall')} hint={t('set.noCall.what')} value={reward.noCall}
          items={(['paper', 'excluded', 'full'] as const).map((value) => ({ value, label: t(`noCall.${value}`) }))}
          onChange={(noCall) => {
            draft.reward({ noCall });
          }}
        />
        <NumberField label={t('set.callCost')} hint={t('set.callCost.what')} value={reward.callCost} least={0} most={2} onChange={(callCost) => {
          draft.reward({ callCost });
        }} />
      </fieldset>
      <fieldset className={styles.fields}>
        <legend>{t('set.objective')}</legend>
        <SwitchField label={t('set.mask')} hint={t('set.mask.what')} value={grpo.mask} onChange={(mask) => {
          draft.grpo({ mask });
        }} />
        <ChoiceField
          label={t('set.advantage')} hint={t('set.advantage.what')} value={grpo.advantage}
          items={(['sample-std', 'population-std', 'mean'] as const).map((value) => ({ value, label: t(`advantage.${value}`) }))}
          onChange={(advantage) => {
            draft.grpo({ advantage });
          }}
        />
        <ChoiceField
          label={t('set.aggregation')} hint={t('set.aggregation.what')} value={grpo.aggregation}
          items={(['sequence-mean', 'token-mean', 'constant'] as const).map((value) => ({ value, label: t(`aggregation.${value}`) }))}
          onChange={(aggregation) => {
            draft.grpo({ aggregation });
          }}
        />
        <NumberField label={t('set.epsilonLow')} hint={t('set.epsilonLow.what')} value={grpo.epsilonLow} least={0} most={1} unlimited={NO_CLIP} onChange={(epsilonLow) => {
          draft.grpo({ epsilonLow });
        }} />
        <NumberField label={t('set.epsilonHigh')} hint={t('set.epsilonHigh.what')} value={grpo.epsilonHigh} least={0} most={10} unlimited={NO_CLIP} onChange={(epsilonHigh) => {
          draft.grpo({ epsilonHigh });
        }} />
        <NumberField label={t('set.beta')} hint={t('set.beta.what')} value={grpo.beta} least={0} most={10} onChange={(beta) => {
          draft.grpo({ beta });
        }} />
        <NumberField label={t('set.innerEpochs')} hint={t('set.innerEpochs.what')} value={grpo.innerEpochs} least={1} most={16} whole onChange={(innerEpochs) => {
          draft.grpo({ innerEpochs });
        }} />
        <NumberField label={t('set.minibatches')} hint={t('set.minibatches.what')} value={grpo.minibatches} least={1} most={grpo.questions * grpo.group} whole onChange={(minibatches) => {
          draft.grpo({ minibatches });
        }} />
        <NumberField label={t('set.refills')} hint={t('set.refills.what')} value={grpo.refills} least={0} most={8} whole onChange={(refills) => {
          draft.grpo({ refills });
        }} />
      </fieldset>
      <fieldset className={styles.fields}>
        <legend>{t('set.optimizer')}</legend>
        <NumberField label={t('set.learningRate')} hint={t('set.learningRate.what')} value={optimizer.learningRate} least={1e-7} most={0.1} onChange={(learningRate) => {
          draft.optimizer({ learningRate });
        }} />
        <NumberField label={t('set.beta1')} hint={t('set.beta1.what')} value={optimizer.beta1} least={0} most={0.9999} onChange={(beta1) => {
          draft.optimizer({ beta1 });
        }} />
        <NumberField label={t('set.beta2')} hint={t('set.beta2.what')} value={optimizer.beta2} least={0} most={0.99999} onChange={(beta2) => {
          draft.optimizer({ beta2 });
        }} />
        <NumberField label={t('set.epsilon')} hint={t('set.epsilon.what')} value={optimizer.epsilon} least={1e-12} most={1} onChange={(epsilon) => {
          draft.optimizer({ epsilon });
        }} />
        <NumberField label={t('set.weightDecay')} hint={t('set.weightDecay.what')} value={optimizer.weightDecay} least={0} most={1} onChange={(weightDecay) => {
          draft.optimizer({ weightDecay });
        }} />
        <NumberField label={t('set.maxGradNorm')} hint={t('set.maxGradNorm.what')} value={optimizer.maxGradNorm} least={0.001} most={1000} unlimited={NO_CLIP} onChange={(maxGradNorm) => {
          draft.optimizer({ maxGradNorm });
        }} />
      </fieldset>
    </>
  );
}
