/** All keys of the page, by view: what `?` lists for the view on the screen, as one list. The test compares them with the bindings. */
import type { PlainKey } from '../../text/text.ts';

export interface KeyRow {
  readonly keys: readonly string[];
  readonly label: PlainKey;
}

export const KEYS: readonly { readonly where: PlainKey; readonly rows: readonly KeyRow[] }[] = [
  { where: 'reference.keys.everywhere', rows: [
    { keys: ['?'], label: 'keys.list' },
  ] },
  { where: 'reference.keys.step', rows: [
    { keys: ['0', '1', '2', '3', '4', '5', '6', '7', '8'], label: 'keys.signal' },
    { keys: ['j', ','], label: 'keys.back' },
    { keys: ['k', '.'], label: 'keys.on' },
    { keys: [' '], label: 'keys.play' },
    { keys: ['u'], label: 'keys.unit' },
  ] },
  { where: 'view.lesson', rows: [
    { keys: ['n'], label: 'lesson.keys.next' },
    { keys: ['p'], label: 'lesson.keys.previous' },
  ] },
  { where: 'view.rollout', rows: [
    { keys: ['ArrowLeft', 'ArrowRight'], label: 'keys.tokens' },
    { keys: ['PageUp', 'PageDown'], label: 'keys.parts' },
    { keys: ['Shift'], label: 'keys.range' },
    { keys: ['e'], label: 'keys.edit' },
    { keys: ['r'], label: 'keys.again' },
    { keys: ['/'], label: 'keys.find' },
    { keys: ['n'], label: 'keys.nextMatch' },
    { keys: ['N'], label: 'keys.previousMatch' },
  ] },
  { where: 'view.group', rows: [
    { keys: ['ArrowLeft', 'ArrowRight'], label: 'group.keys.tokens' },
    { keys: ['ArrowUp', 'ArrowDown'], label: 'group.keys.rollouts' },
    { keys: ['PageUp', 'PageDown'], label: 'group.keys.parts' },
    { keys: ['Enter'], label: 'group.keys.open' },
    { keys: ['Escape'], label: 'group.keys.sampled' },
  ] },
  { where: 'view.update', rows: [
    { keys: ['w'], label: 'keys.update.walk' },
    { keys: ['m'], label: 'keys.update.mask' },
    { keys: ['v'], label: 'keys.update.variants' },
    { keys: ['ArrowLeft', 'ArrowRight'], label: 'keys.update.tokens' },
    { keys: ['PageUp', 'PageDown'], label: 'keys.update.parts' },
  ] },
  { where: 'view.compare', rows: [
    { keys: ['ArrowLeft', 'ArrowRight'], label: 'group.keys.tokens' },
    { keys: ['ArrowUp', 'ArrowDown'], label: 'question.keys.texts' },
    { keys: ['PageUp', 'PageDown'], label: 'group.keys.parts' },
    { keys: ['d'], label: 'question.keys.fork' },
  ] },
  { where: 'view.tools', rows: [
    { keys: ['Ctrl+Enter'], label: 'keys.tools.run' },
    { keys: ['Enter'], label: 'keys.tools.make' },
    { keys: ['u'], label: 'keys.tools.undo' },
    { keys: ['w'], label: 'keys.tools.way' },
    { keys: ['g'], label: 'keys.tools.check' },
  ] },
  { where: 'view.teach', rows: [
    { keys: ['ArrowRight', 'PageDown'], label: 'teach.key.next' },
    { keys: ['ArrowLeft', 'PageUp'], label: 'teach.key.previous' },
    { keys: ['PageDown', 'PageUp'], label: 'teach.key.pages' },
    { keys: ['n'], label: 'teach.key.notes' },
    { keys: ['Escape'], label: 'teach.key.leave' },
  ] },
];
