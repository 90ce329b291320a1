/**
 * Shapes are padded, so that few are ever compiled: tracing a program, generating its kernels and optimising them costs
 * as much as a hundred runs of it.
 */

/** The length that rows of `length` positions are trained and scored at: multiples of 16, of 32 from 80 on. */
export function bucket(length: number): number {
  const step = length <= 80 ? 16 : 32;
  return Math.max(16, Math.ceil(length / step) * step);
}

/** Slots of a frozen cache. Coarse: attention is a small part of a decoding step. */
export function slotsFor(length: number): number {
  return [32, 64, 128].find((slots) => slots >= length) ?? Math.ceil(length / 64) * 64;
}

/** Rows that a decoding step is compiled for. Coarse too: below 16 rows a step costs little more than its overhead. */
export function batchFor(rows: number): number {
  return [4, 16, 48].find((size) => size >= rows) ?? Math.ceil(rows / 48) * 48;
}
