import { type Message, textOfMessage } from "../index.ts";
import type { Slot, WindowOptions } from "../window-entry.ts";
import { toArray, toObject } from "../wire/fields.ts";
import { openaiResponsesWire } from "../wire/openai-responses/openai-responses-wire.ts";
import type { WireObject } from "../wire/wire.ts";
import type { ForeignFit } from "./foreign-fit.ts";
import type { ForeignMessage } from "./foreign-message.ts";
import { type Media, toPlainMessage } from "./to-plain-message.ts";

type FitSlots = (messages: readonly Message[], options: WindowOptions) => readonly Slot[] | undefined;

const CONTENT_TYPES: readonly unknown[] = ["input_text", "output_text", "input_image", "input_file"];

/** True for items of OpenAI Responses; plain text looks the same in all formats and counts as none of them. */
export function isResponsesInput(items: readonly ForeignMessage[]): boolean {
  return items.some(
    ({ type, content }) =>
      typeof type === "string" ||
      toArray(content).some((part) => CONTENT_TYPES.includes(toObject(part)?.type)),
  );
}

/** Fits items of OpenAI Responses; several items of the model form one message and stay or leave together. */
export async function fitResponsesItems(
  items: readonly WireObject[],
  options: WindowOptions,
  fitSlots: FitSlots,
): Promise<ForeignFit> {
  const first = items.findIndex((item) => !openaiResponsesWire.isLead(item));
  const leadLength = first < 0 ? items.length : first;
  const media: Media = new Map();
  const toPlain = (elements: readonly WireObject[]) =>
    openaiResponsesWire.decode(elements).map(({ input, from, to }) => ({
      message: toPlainMessage(input, media),
      elements: elements.slice(from, to),
    }));
  const lead = items.slice(0, leadLength);
  const spoken = toPlain(items.slice(leadLength));
  const plain = spoken.map(({ message }) => message);
  const system =
    options.system ??
    toPlain(lead)
      .map(({ message }) => textOfMessage(message))
      .join("\n");
  const slots = fitSlots(plain, { ...options, system });
  const fit = { format: "openai-responses", plain, system, slots } as const;
  const isSame =
    slots?.length === plain.length && slots.every(({ message }, index) => message === plain[index]);
  if (!slots || isSame) return { ...fit, messages: items };
  const base64Of = async (digest: string) => {
    const bytes = media.get(digest);
    return bytes && Buffer.from(bytes).toString("base64");
  };
  const fitted: WireObject[] = [...lead];
  for (const { message, seq, isNote } of slots) {
    const own = isNote ? undefined : spoken[seq - 1];
    if (own?.message === message) fitted.push(...own.elements);
    else {
      const client = own && { elements: own.elements, original: own.message };
      fitted.push(...(await openaiResponsesWire.encodeEdited(message, client, base64Of)));
    }
  }
  return { ...fit, messages: fitted };
}
