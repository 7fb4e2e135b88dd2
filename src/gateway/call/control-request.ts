import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";

/**
 * The request of a conversation in the control arm: it is logged, and sent unchanged. While control is off, such a
 * conversation is released: it is edited like any other from then on, and counts in neither arm.
 */
export function applyControl(
  callRequest: CallRequest,
  thread: Thread,
  { control }: { readonly control: number },
): CallRequest | Promise<CallRequest> {
  if (thread.meta.arm !== "control") return callRequest;
  if (control === 0) return thread.mark({ arm: "released" }).then(() => callRequest);
  const { edits: _edits, compactions: _compactions, memories: _memories, ...rest } = callRequest;
  return { ...rest, policy: "none", policyKey: "none", isControl: true };
}
