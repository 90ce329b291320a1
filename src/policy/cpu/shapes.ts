/** Shapes are padded, so that few are ever compiled. */

const BUCKET = 16;

/** The length that `length` positions are padded to. */
export function bucket(length: number): number {
  return Math.max(BUCKET, Math.ceil(length / BUCKET) * BUCKET);
}
