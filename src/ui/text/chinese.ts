/** Chinese numbers, durations and lists. There is one plural form, and both scripts write numbers alike. */
import { formatFor } from './format.ts';

export const n = formatFor('zh').integer;

export const engineName = (kind: 'webgpu' | 'cpu'): string => (kind === 'webgpu' ? 'WGSL 引擎' : 'CPU 引擎');

/** "45 秒", "1 分 20 秒", "2 小时 5 分": never more than two units. */
const durationWith = (minute: string, hour: string) => (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${n(whole)} 秒`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${n(minutes)} ${minute}` : `${n(minutes)} 分 ${n(whole % 60)} 秒`;
  return `${n(Math.floor(minutes / 60))} ${hour} ${n(minutes % 60)} 分`;
};

/** In simplified characters. */
export const hans = { duration: durationWith('分钟', '小时') };
/** In traditional characters. */
export const hant = { duration: durationWith('分鐘', '小時') };

/** "2", "2 和 5", "2、5 和 6": the same in both scripts. */
export function list(numbers: readonly number[]): string {
  const all = numbers.map((number) => n(number));
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join('、')} 和 ${all.at(-1) ?? ''}`;
}
