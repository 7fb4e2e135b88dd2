export { ApiError } from "../core/api-error.ts";
export { createDoorError, toErrorReply } from "../core/error-reply.ts";
export { sendJson } from "../core/send-reply.ts";
export { HistoryImport } from "./history-import.ts";
export { ReplayRunner } from "./replay-runner.ts";
