import { acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { findForgetTarget } from "../forget-target.ts";
import { textOutput } from "../schemas.ts";
import { defineTool, type McpCall, refuseCall } from "../tool-definition.ts";

const answerSchema = z.object({ forget: z.boolean() });

/** Deletes a memory or an entry; only after a confirmation, by the user where the client can ask. */
export const forgetTool = defineTool({
  name: "forget",
  title: "Forget",
  description:
    "Permanently delete a saved memory or one message, when the user asks for it. The first call changes nothing and says what would go.",
  input: z.object({
    cite: z.string().min(1).max(2_000),
    confirm: z.string().max(100).optional().describe("code of the first call, once the user agrees"),
  }),
  output: textOutput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ cite, confirm }, call) {
    const { service, caller, context } = call;
    const target = await findForgetTarget(call, cite.trim());
    if (typeof target === "string") return refuseCall(target);
    // A code is bound to the person and to the text that was shown, so that it confirms nothing else.
    const action = JSON.stringify(["forget", caller.agent ?? "", target.cite, target.preview]);
    const { confirmations } = service;
    const forget = async () => {
      await target.forget();
      return { text: `Forgotten: ${target.cite}.` };
    };
    if (confirm !== undefined)
      return (await confirmations.isCode(action, confirm.trim()))
        ? forget()
        : refuseCall("The code is wrong or too old; call forget without it to get another.");
    if (!call.canAskUser) {
      const code = await confirmations.createCode(action);
      return {
        text: `Nothing is forgotten yet. This would be deleted for good, with everything derived from it:\n${target.preview}\nShow it to the user. If they agree, call forget again with cite ${target.cite} and confirm ${code}.`,
      };
    }
    const { inputResponses } = context.mcpReq;
    if (inputResponses === undefined) return askUser(call, action, target.question);
    const isOurs = await confirmations.isCode(action, String(context.mcpReq.requestState() ?? ""));
    const isAgreed = acceptedContent(inputResponses, "confirm", answerSchema)?.forget === true;
    if (isOurs && isAgreed) return forget();
    return isOurs
      ? { text: "Nothing was forgotten: the user did not agree." }
      : refuseCall("The question is too old; call forget again.");
  },
});

async function askUser({ service }: McpCall, action: string, message: string) {
  const confirm = inputRequired.elicit({ message, requestedSchema: answerSchema });
  return inputRequired({
    inputRequests: { confirm },
    requestState: await service.confirmations.createCode(action),
  });
}
