import type { ProviderFailure } from "../../../kernel/faces/window.ts";
import type { Hit } from "../../../kernel/index.ts";
import type { WireObject } from "../../../wire/wire.ts";
import type { ReplyRecorder } from "../call/reply-recorder.ts";
import type { ThreadCall } from "../call/thread-call.ts";
import type { Incoming } from "../door/read-body.ts";
import type { CallSpan } from "../observe/spans.ts";
import type { Trace } from "../observe/trace.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import type { ParsedRequest } from "../request/read-request.ts";
import type { RequestMemories } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import type { Target } from "../upstream/target.ts";
import type { Services } from "./services.ts";

/** One request and its reply on the way through the gateway. Each stage fills its fields. */
export interface Exchange extends Disposable {
  readonly incoming: Incoming;
  readonly services: Services;
  readonly trace: Trace;
  readonly request: ParsedRequest;
  readonly target: Target;
  readonly thread: Thread;
  readonly call: ThreadCall;
  readonly memorySearch: MemorySearch | undefined;
  readonly memories: RequestMemories | undefined;
  readonly span: CallSpan | undefined;
  /** True if recall may add something to the request. */
  readonly mayRecall: boolean;
  /** True if the gateway asks for the usage of a stream whose client does not. */
  asksUsage: boolean;
  recall: RequestRecall | undefined;
  reply: ReplyRelay | undefined;
  /** Why the reply is not whole: an error of ours or of the connection, else words of the provider. */
  failure: Error | { readonly message?: string | undefined } | undefined;
}

/** The additions of recall to one request. */
export interface RequestRecall {
  /** True if the model was offered the gateway's tools. */
  readonly hasTools: boolean;
  /** True if they were offered inside the conversation and not among the tools of the request. */
  readonly hasToolsInside: boolean;
  /** True if the gateway carries out calls of Anthropic's memory tool. */
  readonly servesMemory: boolean;
  /** Adds the recalled content and the `elements` of later rounds to the changes of a body. */
  addTo(changes: BodyChanges, elements?: readonly WireObject[]): BodyChanges;
  /**
   * Estimated tokens of the context added to user messages, and of later rounds. Tools count with the client's tools.
   */
  countTokens(elements?: readonly WireObject[]): number;
  /**
   * Removes the context, and before the first edit also the tools, because the request is too long; false if nothing
   * changes. The tools return with an edit: both rewrite the prefix that the provider has cached, so they do it once.
   */
  makeRoom(): Promise<boolean>;
  /** True if a request was refused because its tools came inside the conversation; they join the list of tools then. */
  listTools(failure: ProviderFailure): boolean;
  /** Removes the tools and the context for good; true if the request may be tried once more without them. */
  drop(): Promise<boolean>;
}

/** The recorder of a reply, and the changes to the reply on its way to the client. */
export interface ReplyRelay {
  readonly recorder: ReplyRecorder;
  /** Maximum input tokens to report to the client; undefined leaves every byte unchanged. */
  readonly maxTokens: number | undefined;
  /** Further changes to the data of an event or body; an event without data is left out. */
  readonly change: ((data: string) => string | undefined) | undefined;
  /** Events to insert after an event, in wire format. */
  readonly eventsAfter: ((data: string) => string) | undefined;
}

/** Search results for a new message of the user. */
export interface MemorySearch {
  /** Index of the message in the request. */
  readonly messageIndex: number;
  readonly query: string;
  /** Best first. */
  readonly hits: readonly Hit[];
}
