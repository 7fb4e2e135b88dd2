import type { EntryId, Kernel, Session } from "../../src/kernel/index.ts";
import { conversation, textBytesOf } from "../conversation/conversation.ts";
import { imagesOf } from "../conversation/images.ts";
import { formatBytes, formatCount, formatMs } from "../format.ts";
import { Progress } from "../progress.ts";
import type { Tour } from "../tour.ts";

/** Counts and speed of the appends. */
export interface AppendFigures {
  readonly messages: number;
  readonly images: number;
  readonly elapsedMs: number;
  readonly messagesPerSecond: number;
  readonly textBytes: number;
  readonly imageBytes: number;
}

/** The last image and its entry. */
export interface LastImage {
  readonly index: number;
  readonly entry: EntryId;
}

/** Appends the whole conversation, step by step, as an agent would. */
export async function appendMarathon(
  kernel: Kernel,
  session: Session,
  { length, terminal, memory, stop }: Tour,
): Promise<AppendFigures & { readonly lastImage: LastImage | undefined }> {
  terminal.heading(
    `1. Append ${formatCount(length.messages)} messages and ${formatCount(length.images)} images of ${formatBytes(length.imageBytes)}`,
    "Each message is on disk before the next one is made, and none stays in memory.",
  );
  const startedMs = performance.now();
  const diskBytes = async () => {
    const { logBytes, blobBytes } = await kernel.size();
    return logBytes + blobBytes;
  };
  const progress = new Progress({ terminal, memory, total: length.messages, diskBytes });
  let messages = 0;
  let images = 0;
  let textBytes = 0;
  let imageBytes = 0;
  let lastImage: LastImage | undefined;
  for (const step of conversation(length)) {
    stop.check();
    const [first] = step;
    const entries =
      first && step.length === 1 ? [await session.append(first)] : await session.appendAll(step);
    for (const message of step) textBytes += textBytesOf(message);
    for (const { id, message } of entries) {
      for (const image of imagesOf(message)) {
        images++;
        imageBytes += image.sizeBytes;
        lastImage = { index: images, entry: id };
      }
    }
    messages += entries.length;
    await progress.tick(messages);
  }
  const elapsedMs = performance.now() - startedMs;
  const messagesPerSecond = Math.round((messages / elapsedMs) * 1_000);
  terminal.line(
    `  Done in ${formatMs(elapsedMs)}: ${formatBytes(textBytes)} of text and ${formatBytes(imageBytes)} of images.`,
  );
  return { messages, images, elapsedMs, messagesPerSecond, textBytes, imageBytes, lastImage };
}
