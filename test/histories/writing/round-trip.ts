import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportSession } from "../../../src/histories/export-session.ts";
import { importSources } from "../../../src/histories/import-sources.ts";
import type { Format } from "../../../src/histories/port/format.ts";
import type { Writer } from "../../../src/histories/port/writer.ts";
import type { Kernel, Message, MessageInput, SessionId } from "../../../src/kernel/index.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

/** A one-pixel PNG, as base64. */
export const PICTURE = PIXEL_PNG;

/** A kernel with one session that contains these messages. */
export async function kernelWith(messages: readonly MessageInput[]): Promise<Kernel> {
  const kernel = await testKernel();
  await using session = await kernel.session("talk", { title: "A talk" });
  for (const message of messages) await session.append(message);
  return kernel;
}

/** The complete output of a writer. */
export async function written(kernel: Kernel, id: SessionId, writer: Writer): Promise<string> {
  let text = "";
  for await (const piece of exportSession(kernel, id, writer)) text += piece.text;
  return text;
}

/** The output of a writer for messages, parsed as JSON. */
export async function exported(messages: readonly MessageInput[], writer: Writer): Promise<unknown> {
  return JSON.parse(await written(await kernelWith(messages), "talk", writer));
}

/** The messages of a session's line, without import metadata. */
export async function messagesOf(kernel: Kernel, id: SessionId): Promise<readonly Message[]> {
  await using session = await kernel.session(id);
  const entries = await session.read({ from: 1 });
  return entries.flatMap((entry) => {
    if (entry.kind !== "message") return [];
    const { meta: _, model: _model, ...message } = entry.message;
    return [message];
  });
}

/** Imports a text as a file of a format; returns kernel and session. */
export async function imported(
  text: string,
  format: Format,
  name = "talk.json",
): Promise<{ readonly kernel: Kernel; readonly session: SessionId }> {
  const kernel = await testKernel();
  const path = join(testFolder(), name);
  writeFileSync(path, text);
  const report = await importSources(kernel, [path], { formats: [format] });
  const [source] = report.sources;
  if (source?.status !== "imported") throw new Error(`not imported: ${JSON.stringify(report)}`);
  return { kernel, session: source.session };
}

/** Messages before and after export and import. */
export async function roundTrip(
  messages: readonly MessageInput[],
  writer: Writer,
  format: Format,
): Promise<{ readonly before: readonly Message[]; readonly after: readonly Message[] }> {
  const kernel = await kernelWith(messages);
  const again = await imported(await written(kernel, "talk", writer), format);
  return { before: await messagesOf(kernel, "talk"), after: await messagesOf(again.kernel, again.session) };
}

/** Imports, exports and reimports a text; returns the messages of both imports. */
export async function reimport(
  text: string,
  format: Format,
  writer: Writer,
): Promise<{
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  readonly text: string;
}> {
  const first = await imported(text, format);
  const second = await written(first.kernel, first.session, writer);
  const again = await imported(second, format);
  return {
    before: await messagesOf(first.kernel, first.session),
    after: await messagesOf(again.kernel, again.session),
    text: second,
  };
}
