/** Words of the glossary by their ids, as the stages name them. A test holds the two together. */
import { t } from '../../text/text.ts';

export function termWord(id: string): string {
  return t(`term.${id}` as 'term.policy');
}

export function termWhat(id: string): string {
  return t(`term.${id}.what` as 'term.policy.what');
}
