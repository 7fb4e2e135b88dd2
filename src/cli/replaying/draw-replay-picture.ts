interface PicturePoint {
  readonly tokens: number;
  readonly isEdited: boolean;
}

/** Window sizes under one policy, request by request. */
export interface PictureCurve {
  readonly name: string;
  readonly points: readonly PicturePoint[];
}

const WIDTH = 960;
const HEIGHT = 420;
const MARGIN = { left: 64, right: 160, top: 24, bottom: 40 };
const COLORS = ["#1f6feb", "#d29922", "#2da44e", "#cf222e", "#8250df", "#57606a"];

/** Draws an SVG of the window size over a session's requests: one line per policy, edits marked. */
export function drawReplayPicture(title: string, courses: readonly PictureCurve[]): string {
  const requests = Math.max(1, ...courses.map(({ points }) => points.length));
  const peak = courses
    .flatMap(({ points }) => points)
    .reduce((most, { tokens }) => Math.max(most, tokens), 1);
  const x = (index: number) =>
    MARGIN.left + (index / Math.max(1, requests - 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (tokens: number) =>
    HEIGHT - MARGIN.bottom - (tokens / peak) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const round = (value: number) => value.toFixed(1);
  const lines = courses.map(({ name, points }, index) => {
    const colour = COLORS[index % COLORS.length];
    const path = points
      .map(({ tokens }, at) => `${at === 0 ? "M" : "L"}${round(x(at))} ${round(y(tokens))}`)
      .join("");
    const marks = points.flatMap(({ tokens, isEdited }, at) =>
      isEdited ? [`<circle cx="${round(x(at))}" cy="${round(y(tokens))}" r="2.5" fill="${colour}"/>`] : [],
    );
    const key = `<text x="${WIDTH - MARGIN.right + 12}" y="${MARGIN.top + 14 + index * 20}" fill="${colour}">${escapeXml(name)}</text>`;
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>${marks.join("")}${key}`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = round(y(peak * share));
    const label = `${Math.round((peak * share) / 1_000)}k`;
    return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${at}" y2="${at}" stroke="#d0d7de"/><text x="${MARGIN.left - 8}" y="${at}" text-anchor="end" dominant-baseline="middle">${label}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${MARGIN.left}" y="16" font-weight="bold">${escapeXml(title)}: tokens per request, edits marked</text>`,
    ...ticks,
    ...lines,
    `<text x="${MARGIN.left}" y="${HEIGHT - 12}">1</text>`,
    `<text x="${WIDTH - MARGIN.right}" y="${HEIGHT - 12}" text-anchor="end">${requests} requests</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
