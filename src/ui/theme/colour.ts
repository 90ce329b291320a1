/**
 * Colour arithmetic: contrast (WCAG 2.2), difference (CIEDE2000) and simulated colour vision (Machado, Oliveira and
 * Fernandes 2009, severity 1). Pure; colours are `#rrggbb`.
 */

export type Rgb = readonly [number, number, number];

export const VISIONS = ['normal', 'protan', 'deutan', 'tritan'] as const;
export type Vision = (typeof VISIONS)[number];

/** Row-major 3 × 3, on linear RGB. */
const SIMULATION: Readonly<Record<Vision, readonly number[]>> = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

/** sRGB components, 0 to 255. */
export function parseHex(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function toHex(rgb: Rgb): string {
  return `#${rgb.map((c) => Math.round(Math.min(255, Math.max(0, c))).toString(16).padStart(2, '0')).join('')}`;
}

function toLinear(c: number): number {
  const s = c / 255;
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
}

function linear(hex: string): Rgb {
  const [r, g, b] = parseHex(hex);
  return [toLinear(r), toLinear(g), toLinear(b)];
}

function multiply(m: readonly number[], [x, y, z]: Rgb): Rgb {
  const row = (i: number): number => (m[i] ?? 0) * x + (m[i + 1] ?? 0) * y + (m[i + 2] ?? 0) * z;
  return [row(0), row(3), row(6)];
}

/** Relative luminance, 0 to 1. */
export function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const D65: Rgb = [0.95047, 1, 1.08883];
const TO_XYZ = [0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041];

/** CIELAB of a colour as a person with this colour vision sees it. */
export function lab(hex: string, vision: Vision = 'normal'): Rgb {
  const seen = multiply(SIMULATION[vision], linear(hex)).map((c) => Math.min(1, Math.max(0, c)));
  const xyz = multiply(TO_XYZ, [seen[0] ?? 0, seen[1] ?? 0, seen[2] ?? 0]);
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const [x, y, z] = [f(xyz[0] / D65[0]), f(xyz[1] / D65[1]), f(xyz[2] / D65[2])];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const degrees = (radians: number): number => (radians * 180) / Math.PI;
const radians = (deg: number): number => (deg * Math.PI) / 180;

/** CIEDE2000 (Sharma, Wu and Dalal 2005), all weights 1. */
export function ciede2000([l1, a1, b1]: Rgb, [l2, a2, b2]: Rgb): number {
  const meanC = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(meanC ** 7 / (meanC ** 7 + 25 ** 7)));
  const [x1, x2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)];
  const hue = (b: number, a: number): number => (a === 0 && b === 0 ? 0 : (degrees(Math.atan2(b, a)) + 360) % 360);
  const [h1, h2] = [hue(b1, x1), hue(b2, x2)];
  const grey = c1 * c2 === 0;
  let dh = h2 - h1;
  if (grey) dh = 0;
  else if (dh > 180) dh -= 360;
  else if (dh < -180) dh += 360;
  let meanH = h1 + h2;
  if (!grey) {
    if (Math.abs(h1 - h2) <= 180) meanH /= 2;
    else meanH = (meanH + (meanH < 360 ? 360 : -360)) / 2;
  }
  const dL = l2 - l1;
  const dC = c2 - c1;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(dh) / 2);
  const L = (l1 + l2) / 2;
  const C = (c1 + c2) / 2;
  const T =
    1 - 0.17 * Math.cos(radians(meanH - 30)) + 0.24 * Math.cos(radians(2 * meanH)) +
    0.32 * Math.cos(radians(3 * meanH + 6)) - 0.2 * Math.cos(radians(4 * meanH - 63));
  const sL = 1 + (0.015 * (L - 50) ** 2) / Math.sqrt(20 + (L - 50) ** 2);
  const sC = 1 + 0.045 * C;
  const sH = 1 + 0.015 * C * T;
  const rT = -2 * Math.sqrt(C ** 7 / (C ** 7 + 25 ** 7)) * Math.sin(radians(60 * Math.exp(-(((meanH - 275) / 25) ** 2))));
  return Math.sqrt((dL / sL) ** 2 + (dC / sC) ** 2 + (dH / sH) ** 2 + rT * (dC / sC) * (dH / sH));
}

/** Euclidean distance in CIELAB (CIE76). */
export function cie76(a: Rgb, b: Rgb): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** The least difference between any two of the colours, over all simulated visions. */
export function leastDifference(colours: readonly string[], difference: (a: Rgb, b: Rgb) => number = ciede2000): number {
  let least = Infinity;
  for (const vision of VISIONS) {
    const seen = colours.map((c) => lab(c, vision));
    for (const [i, a] of seen.entries()) {
      for (const b of seen.slice(i + 1)) least = Math.min(least, difference(a, b));
    }
  }
  return least;
}

/** `t` of the way from one colour to the other, in sRGB. */
export function mix(from: string, to: string, t: number): string {
  const [a, b] = [parseHex(from), parseHex(to)];
  return toHex([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t]);
}
