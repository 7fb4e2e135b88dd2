import { isLonghaulError, type Message, textOfMessage } from "../index.ts";
import { alternateRoles, fitConversation, type Slot, type WindowOptions } from "../window-entry.ts";
import { addMissingResults } from "./build-prompt.ts";
import { encodeForeignMessages } from "./encode-foreign-messages.ts";
import { fitResponsesItems, isResponsesInput } from "./fit-responses-items.ts";
import type { FittedFormat, ForeignFit } from "./foreign-fit.ts";
import {
  decodeForeignMessage,
  detectMessageFormat,
  type ForeignMessage,
  type MessageFormat,
} from "./foreign-message.ts";
import {
  createRoleMerger,
  mergePromptRoles,
  type OutgoingMessage,
  type RoleMerger,
} from "./merge-prompt-roles.ts";
import type { SdkMessage } from "./sdk-message.ts";
import { type Media, toPlainMessage } from "./to-plain-message.ts";

/** Fits messages of a format, by default the one that they have. */
export async function fitForeignMessages(
  messages: readonly ForeignMessage[],
  options: WindowOptions,
  format?: FittedFormat,
): Promise<ForeignFit> {
  const isResponses = format === "openai-responses" || (format === undefined && isResponsesInput(messages));
  if (isResponses) return fitResponsesItems(messages, options, fitSlots);
  const dialect = format ?? detectMessageFormat(messages);
  const media: Media = new Map();
  const decoded = messages
    .map((own) => ({ foreign: own, message: toPlainMessage(decodeForeignMessage(own, dialect), media) }))
    .filter(({ message }) => message.role !== "tool" || message.parts.length > 0);
  const first = decoded.findIndex(({ message }) => message.role !== "system");
  const instructions = decoded.slice(0, first < 0 ? decoded.length : first);
  const spoken = decoded.slice(instructions.length);
  const system = options.system ?? instructions.map(({ message }) => textOfMessage(message)).join("\n");
  const plain = spoken.map(({ message }) => message);
  const slots = fitSlots(plain, { ...options, system });
  const fit = { format: dialect, plain, system, slots };
  if (!slots) return { ...fit, messages };
  const fitted = await encodeSlots(slots, spoken, dialect, media);
  return { ...fit, messages: [...instructions.map((own) => own.foreign), ...fitted] };
}

/**
 * The window of a conversation; undefined if content that may not be clipped is too large and `oversize` is not
 * "error".
 */
function fitSlots(messages: readonly Message[], options: WindowOptions): readonly Slot[] | undefined {
  try {
    return fitConversation(messages, { oversize: "clip", ...options }).slots;
  } catch (error) {
    if (options.oversize === "error" || !isLonghaulError(error, "WINDOW_FLOOR")) throw error;
    return undefined;
  }
}

interface DecodedMessage {
  readonly foreign: ForeignMessage;
  readonly message: Message;
}

function chooseMerger(dialect: MessageFormat): RoleMerger<ForeignMessage> {
  if (dialect !== "longhaul") return createRoleMerger(dialect);
  const merge = (first: ForeignMessage, second: ForeignMessage) => {
    const [merged, ...others] = alternateRoles([first, second] as unknown as readonly Message[]);
    return others.length === 0 ? (merged as unknown as ForeignMessage) : undefined;
  };
  return { canMerge: (first, second) => merge(first, second) !== undefined, merge };
}

/** Converts a window to the caller's format. */
async function encodeSlots(
  slots: readonly Slot[],
  spoken: readonly DecodedMessage[],
  dialect: MessageFormat,
  media: Media,
): Promise<readonly ForeignMessage[]> {
  const toolNames = new Map<string, string>();
  const bytesOf = async ({ digest }: { readonly digest: string }) => media.get(digest);
  const outgoing: OutgoingMessage<ForeignMessage>[] = [];
  for (const { message, seq, isNote } of slots) {
    for (const part of message.parts) if (part.type === "tool-call") toolNames.set(part.callId, part.name);
    const own = isNote ? undefined : spoken[seq - 1];
    const written =
      own?.message === message
        ? [own.foreign]
        : await encodeForeignMessages(message, { format: dialect, own, toolNames, bytesOf });
    for (const one of written) outgoing.push({ message: one, index: isNote ? undefined : seq - 1 });
  }
  const fitted = mergePromptRoles(outgoing, chooseMerger(dialect), (index) => spoken[index]?.foreign);
  if (dialect !== "ai-sdk") return fitted;
  // Placeholders for missing results were dropped when the messages were read, so add them again.
  return addMissingResults(
    fitted as unknown as readonly SdkMessage[],
  ) as unknown as readonly ForeignMessage[];
}
