import type { Reply, StreamEvent } from "../api/routes.ts";

export type Session = Reply<"GET /sessions/{session}">;
export type Entry = Reply<"GET /sessions/{session}/entries">["entries"][number];
export type MessageEntry = Extract<Entry, { kind: "message" }>;
export type OverlayEntry = Extract<Entry, { kind: "overlay" }>;
export type Message = MessageEntry["message"];
export type Part = Message["parts"][number];
export type CallPart = Extract<Part, { type: "tool-call" }>;
export type ResultPart = Extract<Part, { type: "tool-result" }>;
export type BlobPart = Extract<Part, { type: "blob" }>;
export type Overlay = Reply<"GET /sessions/{session}/receipts">["overlays"][number];
export type Receipt = NonNullable<Overlay["receipt"]>;
export type Draft = Extract<
  StreamEvent<"GET /sessions/{session}/tail">,
  { event: "drafts" }
>["data"]["drafts"][number];
export type SessionWindow = Reply<"GET /sessions/{session}/window">;
export type Slot = NonNullable<SessionWindow["slots"]>[number];
