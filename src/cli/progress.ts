/** A line that is written over itself on a terminal, and written now and then elsewhere. Always on standard error. */

const EVERY_SECONDS_ELSEWHERE = 10;

export class ProgressLine {
  private readonly began = performance.now();
  private lastWritten = -Infinity;

  /** @param done out of `of`; the time left is extrapolated from them. */
  show(done: number, of: number, text: string): void {
    const seconds = (performance.now() - this.began) / 1000;
    const left = done === 0 ? '' : `, ${formatSeconds((seconds / done) * (of - done))} left`;
    const line = `${done}/${of}  ${text}  ${formatSeconds(seconds)}${left}`;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
    else if (done === of || seconds - this.lastWritten > EVERY_SECONDS_ELSEWHERE) {
      process.stderr.write(`${line}\n`);
      this.lastWritten = seconds;
    }
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\n');
  }
}

export function formatSeconds(seconds: number): string {
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
