/** Curves of growth as a picture: cost of a step over work, both relative to the smallest, a panel an axis. */
import type { Growth } from './figures.node.ts';

const PANEL = { width: 220, height: 200, left: 44, top: 46, gap: 26 };
const COLOURS = ['#0b6e99', '#b3541e'];

export function growthChart(points: readonly Growth[]): string {
  const engines = [...new Set(points.map((p) => p.engine))];
  const axes = [...new Set(points.map((p) => p.axis))];
  const most = Math.max(...points.map((p) => p.flops / Math.min(...points.filter((q) => q.axis === p.axis).map((q) => q.flops))), 4);
  const limit = Math.log2(most) * 1.08;
  const width = PANEL.left + axes.length * (PANEL.width + PANEL.gap);
  const height = PANEL.top + PANEL.height + 64;
  const panels = axes.map((axis, i) => {
    const x0 = PANEL.left + i * (PANEL.width + PANEL.gap);
    const y0 = PANEL.top + PANEL.height;
    const x = (value: number): number => x0 + (Math.log2(value) / limit) * PANEL.width;
    const y = (value: number): number => y0 - (Math.log2(value) / limit) * PANEL.height;
    const ticks = [1, 2, 4, 8, 16].filter((t) => Math.log2(t) <= limit);
    const grid = ticks.map((t) => `<line x1="${x0}" x2="${x0 + PANEL.width}" y1="${y(t)}" y2="${y(t)}" class="grid"/><text x="${x0 - 6}" y="${y(t) + 4}" text-anchor="end">${i === 0 ? `${t}×` : ''}</text><text x="${x(t)}" y="${y0 + 16}" text-anchor="middle">${t}×</text>`).join('');
    const curves = engines.map((engine, e) => {
      const own = points.filter((p) => p.axis === axis && p.engine === engine).sort((a, b) => a.flops - b.flops);
      const [first] = own;
      if (first === undefined) return '';
      const at = own.map((p) => [x(p.flops / first.flops), y(Math.max(p.seconds / first.seconds, 1))] as const);
      return `<polyline points="${at.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ')}" stroke="${COLOURS[e] ?? 'black'}" class="curve"/>${at.map(([px, py]) => `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="3.5" fill="${COLOURS[e] ?? 'black'}"/>`).join('')}`;
    }).join('');
    return `<text x="${x0}" y="${PANEL.top - 10}" class="title">${axis} ×1, ×2, ×4</text>${grid}<line x1="${x0}" y1="${y0}" x2="${x(2 ** limit)}" y2="${y(2 ** limit)}" class="even"/>${curves}`;
  });
  const legend = engines.map((engine, e) => `<circle cx="${PANEL.left + 6 + e * 420}" cy="${height - 14}" r="4" fill="${COLOURS[e] ?? 'black'}"/><text x="${PANEL.left + 16 + e * 420}" y="${height - 10}">${escape(engine)}</text>`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Cost of a training step over its work">
<style>text{font:12px system-ui,sans-serif;fill:#333}.title{font-weight:600}.grid{stroke:#ddd}.even{stroke:#999;stroke-dasharray:4 4}.curve{fill:none;stroke-width:2}rect{fill:#fff}</style>
<rect width="${width}" height="${height}"/>
<text x="${PANEL.left}" y="18">Cost of a training step (up) over its operations (right), relative to the smallest; dashed: as the work</text>
${panels.join('\n')}
${legend}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
