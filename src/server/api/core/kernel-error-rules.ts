import type { ErrorCode } from "../../../kernel/index.ts";
import type { ErrorRule } from "./api-error.ts";

const RETRY = "Try again in a moment.";
const LOG = "See the gateway's log.";
const CALL = "Correct the request; the message names the argument.";
const STORE = 'Run "longhaul check" on the gateway\'s machine.';

/** Status and remedy of each error of the kernel. */
export const KERNEL_ERRORS: Readonly<Record<ErrorCode, ErrorRule>> = {
  ABORTED: { status: 503, remedy: RETRY },
  AGENT_FILE_REFUSED: { status: 409, remedy: "Repair the file that the message names." },
  ARGUMENT_INVALID: { status: 400, remedy: CALL },
  BACKUP_INVALID: { status: 409, remedy: "Take another backup." },
  BASE64_INVALID: { status: 400, remedy: "Send the complete data again." },
  BLOB_CORRUPT: { status: 500, remedy: STORE },
  BLOB_NOT_FOUND: { status: 404, remedy: "Append the bytes as a data part." },
  BLOB_TOO_LARGE: { status: 413, remedy: "Shrink the data, or raise the limit." },
  CHECKOUT_MISSING: { status: 409, remedy: "The message names the case." },
  CLOSED: { status: 503, remedy: RETRY },
  CLOSE_FAILED: { status: 500, remedy: LOG },
  CODEC_UNAVAILABLE: { status: 501, remedy: "Run the gateway on Node 22.15 or later." },
  COMPACTION_BUSY: { status: 409, remedy: "Wait for the running compaction, then try again." },
  CONFIG_INVALID: { status: 400, remedy: "Correct the settings that the message lists." },
  DISK_FULL: { status: 507, remedy: "Free space on the gateway's disk and repeat the request." },
  DRAFT_FINISHED: { status: 409, remedy: "Open a new draft." },
  EDIT_LIMIT: { status: 409, remedy: "Confirm or cancel a waiting edit." },
  EDIT_NOT_FOUND: { status: 404, remedy: "Propose the edit again." },
  EMBEDDER_DAMAGED: { status: 500, remedy: "Install the package again." },
  ENTRY_NOT_FOUND: { status: 404, remedy: "GET /api/v1/sessions/{session}/entries lists the entries." },
  ENTRY_TOO_LARGE: { status: 413, remedy: "Split the message, or raise the limit." },
  GIT_FAILED: { status: 500, remedy: LOG },
  INTAKE_CONFLICT: { status: 409, remedy: RETRY },
  LINE_LIMIT: { status: 409, remedy: "Fork the session and continue in the fork." },
  MEMORY_REFUSED: { status: 409, remedy: 'Save it with by: "user" if a person asks for it.' },
  MIME_MISMATCH: { status: 400, remedy: "Correct the label or the data." },
  NOT_ON_LINE: {
    status: 409,
    remedy: "Choose a line with the entry: POST /api/v1/sessions/{session}/lines.",
  },
  PACKAGE_MISSING: { status: 501, remedy: "Install the package that the message names." },
  PATH_REFUSED: { status: 400, remedy: "Use a name without separators, or leave the file out." },
  PERSON_BLOCKED: { status: 403, remedy: "Ask an admin to allow it again: longhaul token rotate." },
  PERSON_EXISTS: { status: 409, remedy: "Choose another name, or rotate the person's token." },
  PERSON_NOT_FOUND: { status: 404, remedy: "GET /api/v1/people lists the people." },
  PORT_TAKEN: { status: 409, remedy: "End the program on that port, or choose another port." },
  POSITION_CONFLICT: { status: 409, remedy: "Read the new entries and decide again." },
  PROCESSES_HIDDEN: { status: 501, remedy: "Install ps, or run the task on Linux or macOS." },
  PROGRAM_NOT_STARTED: { status: 400, remedy: "Install the program, or correct its path." },
  PROVIDER_FAILED: {
    status: 502,
    remedy: "Try again later, or leave the model out: summaries work without one.",
  },
  PROVIDER_REFUSED: { status: 502, remedy: "Name another model, or leave it out." },
  PROVIDER_TIMEOUT: { status: 504, remedy: RETRY },
  PROVIDER_UNCONFIGURED: {
    status: 400,
    remedy: "Set the key that the message names where the gateway runs.",
  },
  SCHEMA_TOO_NEW: { status: 500, remedy: "Update longhaul." },
  SERVICE_FAILED: { status: 500, remedy: LOG },
  SESSION_HAS_CHILDREN: { status: 409, remedy: "Set recursive to true, or forget the children first." },
  SESSION_LIMIT: { status: 507, remedy: "Fork the session, or use another store." },
  SESSION_NOT_FOUND: { status: 404, remedy: "GET /api/v1/sessions lists the sessions." },
  SOURCE_UNREADABLE: { status: 400, remedy: "Correct the path that the message names." },
  STORE_BUSY: { status: 503, remedy: RETRY },
  STORE_CORRUPT: { status: 500, remedy: STORE },
  STORE_FOREIGN: { status: 500, remedy: "Use a separate folder for longhaul." },
  STORE_IO: { status: 503, remedy: "Check the gateway's disk, or the server of its database." },
  STORE_READ_ONLY: { status: 503, remedy: "Make the store writable for the gateway's user." },
  TASK_CONFLICT: { status: 409, remedy: "Read the task again." },
  TASK_FAILED: { status: 409, remedy: "Read the outcome of the task." },
  TASK_LIMIT: { status: 429, remedy: "Wait for a running task." },
  TASK_NOT_FOUND: { status: 404, remedy: "GET /api/v1/tasks lists the tasks." },
  WINDOW_FLOOR: {
    status: 422,
    remedy:
      'Shorten the last message, unpin an entry, set oversize to "clip", or use a model with a larger window.',
  },
  WINDOW_OVERFLOW: { status: 422, remedy: "Use a model with a larger window." },
  WINDOW_STUCK: { status: 422, remedy: "Choose another policy, or a model with a larger window." },
  WORKTREE_REFUSED: { status: 409, remedy: "The message names the case." },
};
