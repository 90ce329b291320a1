/** Links for a class: a view with its settings, and what it hides. Built and read by the same rules as the views. Pure. */
import { STAGES, type StageId } from '../../../lesson/stages.ts';
import type { RunSettings } from '../../../lab/protocol.ts';
import { hideQuery, parseHide, type Control } from '../../hiding/controls.ts';
import { parseSelection, splitHash, stepAddress, STEP_VIEWS, type Signal, type StepView } from '../../routes.ts';
import { compareAddress, parseCompare, PARTS as COMPARE_PARTS } from '../compare/address.ts';
import { parsePlace, PARTS as TOOLS_PARTS, toolsAddress } from '../tools/place.ts';
import { parseSettings, settingsQuery } from '../train/fields.ts';

export const LINK_VIEWS = ['lesson', 'train', ...STEP_VIEWS, 'compare', 'tools', 'home', 'reference'] as const;
export type LinkView = (typeof LINK_VIEWS)[number];

export const MASKS = ['none', 'on', 'off'] as const;

/** What each view's link holds. */
export type Target =
  | { readonly view: 'lesson'; readonly stage: StageId }
  | { readonly view: 'train'; readonly settings: RunSettings }
  | { readonly view: StepView; readonly step: number; readonly question: number; readonly rollout: number; readonly signal: Signal; readonly mask: (typeof MASKS)[number] }
  | { readonly view: 'compare'; readonly part: (typeof COMPARE_PARTS)[number] }
  | { readonly view: 'tools'; readonly part: (typeof TOOLS_PARTS)[number] }
  | { readonly view: 'home' | 'reference' };

export interface ClassLink {
  readonly target: Target;
  readonly hide: readonly Control[];
}

/** The id of the run that ships with the page: the one that every laptop has. */
const RUN = 'recorded';

function targetAddress(target: Target): string {
  switch (target.view) {
    case 'lesson':
      return `/lesson?stage=${STAGES.indexOf(target.stage) + 1}`;
    case 'train': {
      const query = settingsQuery(target.settings);
      return query === '' ? '/train' : `/train?${query}`;
    }
    case 'compare':
      return compareAddress({ part: target.part });
    case 'tools':
      return toolsAddress({ part: target.part });
    case 'home':
      return '/';
    case 'reference':
      return '/reference';
    case 'rollout':
    case 'group':
    case 'update': {
      const { view, step, question, rollout, signal, mask } = target;
      return stepAddress(view, { run: RUN, step, question, rollout, signal, more: { mask: mask === 'none' ? '' : mask } });
    }
  }
}

/** The address behind `#`. */
export function linkAddress({ target, hide }: ClassLink): string {
  const address = targetAddress(target);
  const query = hideQuery(hide);
  return query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`;
}

/** Undefined where the address is none that the builder makes. */
export function parseLink(address: string): ClassLink | undefined {
  const { path, search } = splitHash(address);
  const view = LINK_VIEWS.find((name) => path === (name === 'home' ? '/' : `/${name}`));
  const target = view === undefined ? undefined : parseTarget(view, search);
  return target && { target, hide: parseHide(search) };
}

function parseTarget(view: LinkView, search: string): Target | undefined {
  switch (view) {
    case 'lesson': {
      const stage = STAGES[Number(new URLSearchParams(search).get('stage') ?? 1) - 1];
      return stage && { view, stage };
    }
    case 'train':
      return { view, settings: parseSettings(search) };
    case 'compare':
      return { view, part: parseCompare(search).part };
    case 'tools':
      return { view, part: parsePlace(search).part };
    case 'home':
    case 'reference':
      return { view };
    case 'rollout':
    case 'group':
    case 'update': {
      const { run, step, question, rollout, signal, more } = parseSelection(search);
      if (run !== RUN || step === undefined) return undefined;
      return { view, step, question, rollout, signal, mask: MASKS.find((mask) => mask === more.mask) ?? 'none' };
    }
  }
}
