import { describe, expect, it } from 'vitest';
import { cie76, ciede2000, contrast, leastDifference } from './colour.ts';
import { diverging, PALETTES, sequential, type ThemeName } from './palette.ts';

describe('colour arithmetic', () => {
  it.each([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  ] as const)('agrees with the published pairs of CIEDE2000', (a, b, expected) => {
    expect(ciede2000(a, b)).toBeCloseTo(expected, 4);
  });

  it('knows the contrast of black on white', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 6);
  });
});

describe.each(['light', 'dark'] as ThemeName[])('the %s theme', (theme) => {
  const p = PALETTES[theme];
  const roles = Object.values(p.role);

  it('has role colours that read on the page', () => {
    for (const colour of roles) expect(contrast(colour, p.page), colour).toBeGreaterThanOrEqual(4.5);
  });

  it('has role colours that differ for every colour vision', () => {
    expect(leastDifference(roles)).toBeGreaterThanOrEqual(theme === 'light' ? 16.5 : 14.7);
    expect(leastDifference(roles, cie76)).toBeGreaterThanOrEqual(theme === 'light' ? 26 : 32.9);
  });

  it('has text that reads on every surface it stands on', () => {
    const pairs: [string, string][] = [
      ...[p.page, p.surface, p.sunken].flatMap((ground): [string, string][] =>
        [p.ink, p.muted, p.accent, p.fault].map((ink): [string, string] => [ink, ground])),
      [p.onAccent, p.accent], [p.onAccent, p.accentStrong], [p.ink, p.accentSoft], [p.accent, p.accentSoft],
      [p.fault, p.faultSoft], [p.ink, p.faultSoft], [p.context, p.surface],
    ];
    for (const [ink, ground] of pairs) expect(contrast(ink, ground), `${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    // The hatch is a texture under text of 4.5 on the plain ground; where a stripe lies below a stroke, 3.8 is left.
    expect(contrast(p.context, p.hatch)).toBeGreaterThanOrEqual(3.8);
  });

  it('has controls and data lines that stand out from the page', () => {
    for (const colour of [p.lineStrong, p.accent, ...p.series]) {
      expect(contrast(colour, p.surface), colour).toBeGreaterThanOrEqual(3);
    }
  });

  it('orders its series by contrast', () => {
    const ratios = p.series.map((colour) => contrast(colour, p.surface));
    expect(ratios).toEqual([...ratios].sort((a, b) => a - b));
  });

  it('keeps token text readable over every value of a signal', () => {
    for (let i = -20; i <= 20; i++) {
      for (const { background, ink } of [diverging(theme, i / 20), sequential(theme, Math.abs(i) / 20)]) {
        expect(contrast(ink, background), background).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it('draws the two sides of zero as different colours', () => {
    expect(leastDifference([diverging(theme, -1).background, diverging(theme, 0).background, diverging(theme, 1).background]))
      .toBeGreaterThan(15);
  });
});
