// Makes a screenshot small: at most 256 colors in a palette. Pages have few colors, so nobody sees a difference.
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLORS = 256;

/** Re-encodes a PNG of 8 bits per channel; any other PNG is returned as it is. */
export function optimizePng(bytes) {
  const chunks = readChunks(bytes);
  const head = chunks.find(({ type }) => type === "IHDR").data;
  const [width, height, depth, kind, , , interlace] = [
    head.readUInt32BE(0),
    head.readUInt32BE(4),
    ...head.subarray(8),
  ];
  const channels = { 2: 3, 6: 4 }[kind];
  if (depth !== 8 || channels === undefined || interlace !== 0) return bytes;
  const packed = Buffer.concat(chunks.flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
  const pixels = removeFilters(inflateSync(packed), width, height, channels);
  const { palette, indexes } = reduceColors(pixels, channels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++)
    indexes.copy(rows, row * (width + 1) + 1, row * width, (row + 1) * width);
  const own = Buffer.from(head);
  own[9] = 3;
  const written = [
    ["IHDR", own],
    ["PLTE", palette],
    ["IDAT", deflateSync(rows, { level: 9, memLevel: 9 })],
    ["IEND", Buffer.alloc(0)],
  ];
  return Buffer.concat([SIGNATURE, ...written.map(([type, data]) => writeChunk(type, data))]);
}

function readChunks(bytes) {
  const chunks = [];
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    chunks.push({
      type: bytes.toString("latin1", at + 4, at + 8),
      data: bytes.subarray(at + 8, at + 8 + size),
    });
    at += size + 12;
  }
  return chunks;
}

function writeChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** Undoes the filters of the rows, which predict a byte from its neighbors. */
function removeFilters(data, width, height, channels) {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (stride + 1)];
    for (let at = 0; at < stride; at++) {
      const raw = data[row * (stride + 1) + 1 + at];
      const left = at >= channels ? pixels[row * stride + at - channels] : 0;
      const up = row > 0 ? pixels[(row - 1) * stride + at] : 0;
      const corner = row > 0 && at >= channels ? pixels[(row - 1) * stride + at - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, predict(left, up, corner)][filter];
      pixels[row * stride + at] = (raw + guess) & 0xff;
    }
  }
  return pixels;
}

function predict(left, up, corner) {
  const sum = left + up - corner;
  const [dLeft, dUp, dCorner] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)];
  if (dLeft <= dUp && dLeft <= dCorner) return left;
  return dUp <= dCorner ? up : corner;
}

/** Keeps the most frequent colors; every other one becomes its nearest. */
function reduceColors(pixels, channels) {
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += channels) {
    const color = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const kept = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_COLORS)
    .map(([color]) => color);
  const known = new Map(kept.map((color, index) => [color, index]));
  const indexes = Buffer.alloc(pixels.length / channels);
  for (let at = 0, pixel = 0; at < pixels.length; at += channels, pixel++) {
    const color = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    if (!known.has(color)) known.set(color, findNearest(kept, color));
    indexes[pixel] = known.get(color);
  }
  return {
    palette: Buffer.from(kept.flatMap((color) => [color >> 16, (color >> 8) & 0xff, color & 0xff])),
    indexes,
  };
}

function findNearest(colors, wanted) {
  const distance = (color) =>
    ((color >> 16) - (wanted >> 16)) ** 2 +
    (((color >> 8) & 0xff) - ((wanted >> 8) & 0xff)) ** 2 +
    ((color & 0xff) - (wanted & 0xff)) ** 2;
  return colors.reduce((best, color, index) => (distance(color) < distance(colors[best]) ? index : best), 0);
}
