// Images: appended as a data URL, stored once even if repeated, verified on reading, erased from disk when redacted.
import { crc32, deflateSync } from "node:zlib";
import { type Entry, type MessageBody, openKernel } from "longhaul";

await using kernel = await openKernel({ path: process.env.LONGHAUL_HOME ?? ":memory:" });
const session = await kernel.session();
const bytes = gradient(640, 480);
const dataUrl = `data:image/png;base64,${bytes.toString("base64")}`;

const before = await kernel.size();
const first = await show("Here is the picture.");
const second = await show("The same one again.");
const after = await kernel.size();
const { digest, mime, sizeBytes } = blobOf(first);
console.log(`appended ${mime} of ${sizeBytes} bytes as ${digest.slice(0, 12)}…`);
console.log(`same blob twice: ${blobOf(second).digest === digest}`);
console.log(`blobs grew by ${after.blobBytes - before.blobBytes} bytes for two messages`);

const read = await kernel.blobs.bytes(digest);
console.log(`read back and verified: ${bytes.equals(read)}`);

const once = await session.redact(first.id, "no longer needed");
console.log(`first message redacted with its copy: ${once.blobs} blob freed, ${once.blobBytes} bytes`);

function show(text: string): Promise<Entry<MessageBody>> {
  const image = { type: "data", data: dataUrl, name: "gradient.png" } as const;
  return session.append({ role: "user", parts: [{ type: "text", text }, image] });
}

function blobOf({ id, message }: Entry<MessageBody>) {
  const blob = message.parts.find((part) => part.type === "blob");
  if (!blob) throw new Error(`Entry ${id} has no blob.`);
  return blob;
}

/** A real PNG that any viewer can open. */
function gradient(width: number, height: number): Buffer {
  const rows = Buffer.alloc((1 + width * 3) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      rows.set([(x * 255) / width, (y * 255) / height, (x ^ y) & 255], y * (1 + width * 3) + 1 + x * 3);
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
