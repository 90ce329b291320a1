/** One line of the table, and how the table is written. */
export interface Figure {
  /** What `--only` calls it; set by whoever lists the figures. */
  readonly group?: string;
  readonly figure: string;
  readonly work: string;
  readonly adapter: string;
  /** In `unit`; null where it could not be taken, `note` says why. */
  readonly ours: number | null;
  readonly peer: number | null;
  readonly peerName: string | null;
  /** How many times better ours is than the peer's. */
  readonly ratio: number | null;
  /** In words. */
  readonly goal: string | null;
  readonly met: boolean | null;
  readonly unit: string;
  readonly note?: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? (sorted[Math.floor(middle)] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** Three digits. */
export function short(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

export function markdownTable(figures: readonly Figure[]): string {
  const rows = figures.map((f) => [
    f.figure, f.work, `${short(f.ours)} ${f.unit}`, f.peerName === null ? '' : `${f.peerName}: ${short(f.peer)}`, f.ratio === null ? '' : `${short(f.ratio)} ×`,
    f.goal ?? '', f.met === null ? '' : f.met ? 'met' : 'short', f.note ?? '',
  ]);
  const head = ['figure', 'work', 'ours', 'peer', 'ratio', 'goal', '', 'note'];
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The same for a terminal: a figure a line, with what it was compared with below it. */
export function textTable(figures: readonly Figure[]): string {
  return figures.map((f) => {
    const verdict = f.met === null ? ' ' : f.met ? '✓' : '✗';
    const peer = f.peerName === null ? '' : ` · ${f.peerName} ${short(f.peer)} ${f.unit}${f.ratio === null ? '' : ` · ${short(f.ratio)} ×`}`;
    const goal = f.goal === null ? '' : ` · goal ${f.goal}`;
    return `${verdict} ${f.figure.padEnd(30)} ${`${short(f.ours)} ${f.unit}`.padEnd(16)}${peer}${goal}\n    ${f.work}${f.note === undefined ? '' : `; ${f.note}`}`;
  }).join('\n');
}
