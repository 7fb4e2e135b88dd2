import { ERROR_CODES, type ErrorCode } from "../kernel/index.ts";

/** Meaning and remedy of a code, and the names of its details; in Markdown. */
export interface ErrorGuide {
  readonly code: ErrorCode;
  readonly meaning: string;
  readonly remedy: string;
  readonly details: string;
}

/** One line for each code: meaning, remedy, details. */
const GUIDES = `
ABORTED | A signal fired before the data of an append was stored. | None needed; repeat the call if you still want it. |
AGENT_FILE_REFUSED | \`longhaul connect\` or \`disconnect\` cannot edit the configuration file of an agent: it is damaged, not a plain file, too large, owned by another user, or was changed meanwhile. The file is unchanged. | The message names the file, the line and the reason. | \`path\`, \`reason\`
ARGUMENT_INVALID | An argument, option or message is missing or has a wrong shape. The message names it. Public functions never throw a plain \`TypeError\` for this. | Correct the call. | \`option\`
BACKUP_INVALID | A folder is no backup, or a file of it is missing or was changed. | Take another backup; \`longhaul repair --store FOLDER\` copies the readable part. | \`path\`
BASE64_INVALID | Base64 or a data URL is truncated or contains invalid characters. | Send the complete data again. |
BLOB_CORRUPT | The bytes on disk, or in an object storage, differ from the stored bytes. Streams throw this error at their end. | Append the data again, which replaces the file, or restore the file from a backup. | \`digest\`, \`found\`
BLOB_NOT_FOUND | No blob has that digest, or another program removed its file. | Append the bytes as a data part. | \`digest\`
BLOB_TOO_LARGE | Data to store is larger than \`limits.maxBlobBytes\`, or data to load with \`blobs.bytes()\` is larger than \`limits.maxReadBytes\`. | Shrink it, stream it, or raise the limit. | \`maxBytes\`, \`digest\`, \`sizeBytes\`
CHECKOUT_MISSING | A worker has no folder for a task that was started on another machine. | Check the repository out at the same path, or start the worker with \`--checkout THERE=HERE\`. | \`folder\`, \`host\`
CLOSED | The kernel, session or store was closed. | Open a new one. | \`kind\`
CLOSE_FAILED | A resource failed to close. All other resources were closed. | Look at \`cause\`. |
CODEC_UNAVAILABLE | An entry or a file to import is packed with zstd, which this Node version lacks. | Run Node 22.15 or later. |
COMPACTION_BUSY | This or another process is already compacting the session. | Wait, or continue without it: the summary takes effect when it is ready. | \`session\`, \`owner\`
CONFIG_INVALID | A gateway setting in the file, the environment or the command line is invalid. | The message lists all invalid settings with their valid values ([gateway](configuration.md)). | \`problems\`, \`keys\`, \`path\`
DISK_FULL | The disk is full. | Free space and repeat the call; the session stays usable. | \`path\`
DRAFT_FINISHED | The draft is already finished, discarded or closed. | Open a new draft. | \`draft\`
EDIT_LIMIT | The edits waiting for confirmation are too many or too large. | Confirm or cancel one. |
EDIT_NOT_FOUND | The edit was confirmed, canceled, or has expired. | Propose it again. |
EMBEDDER_DAMAGED | The weights of the built-in embedder are missing, truncated or altered. | Install the package again, or name another embedder. | \`file\`, \`reason\`
ENTRY_NOT_FOUND | No entry or line has that seq, or no message has that time. | Look it up with \`session.head()\`, \`session.entryAt()\` or \`session.lines()\`. | \`id\`, \`session\`, \`seq\`, \`at\`
ENTRY_TOO_LARGE | An entry is larger than \`limits.maxEntryBytes\` even without its blobs. | Split it, or raise the limit. | \`characters\`, \`maxBytes\`
GIT_FAILED | Git failed, hung or was killed. | The message holds the last output of git. | \`command\`, \`exitCode\`
INTAKE_CONFLICT | Another importer added records of the same source meanwhile, a record is offered again, or the session was deleted. | Call \`intake.refresh()\`, find the known records with \`find\`, and append the rest. | \`intake\`, \`expected\`, \`actual\`, \`record\`
LINE_LIMIT | A line would need more than 10,000 ranges. | Fork the session and continue in the fork. |
MEMORY_REFUSED | An agent or an import wants to remember a value that was forgotten or rejected. | None for the agent. A person can remember it again: \`longhaul remember\`, or \`by: "user"\`. | \`agent\`, \`reason\`
MIME_MISMATCH | A label contradicts the bytes (a PNG labeled JPEG), or is not a MIME type. | Correct the label or the data. | \`declared\`, \`sniffed\`
NOT_ON_LINE | The entry exists but is not on the active line. | \`choose\` a line that contains it. | \`session\`, \`seq\`
PACKAGE_MISSING | The call needs an optional package that could not be loaded. | Install the package that the message names, or use another option. | \`package\`
PATH_REFUSED | A name from outside, such as that of a file in an imported history, would lead out of the folder that it belongs in, or means more than a name on some system. Nothing was written. | Rename the file where it comes from, or leave it out. | \`path\`, \`reason\`
PERSON_BLOCKED | An admin has ended the access of the person, who can neither sign in nor renew a token. | An admin allows it again: \`longhaul token rotate NAME\`. | \`person\`
PERSON_EXISTS | The person has a valid token already. | \`longhaul token rotate\` replaces it, \`longhaul token set\` changes rights and budgets. | \`person\`
PERSON_NOT_FOUND | The store has no such person. | \`longhaul token list\` lists them. | \`person\`
PORT_TAKEN | Another program listens on the port of the gateway; the message names it where the system tells. | End that program, or start the gateway with \`--port 0\` (any free port) or another number. | \`host\`, \`port\`, \`pid\`
POSITION_CONFLICT | The head differs from \`expectedHead\`: another writer has appended. | Read the new entries and decide again. | \`session\`, \`expected\`, \`actual\`
PROCESSES_HIDDEN | This system does not list its processes: there is no \`/proc\` and no working \`ps\` (Windows, or a container without both). No program was started, because its child processes could not be ended. | Install \`ps\` (package \`procps\`), or run the task on Linux, macOS or WSL. Agents that start no programs still work. | \`reason\`
PROGRAM_NOT_STARTED | A program or its working folder does not exist or is not executable. | Install it, or correct the path. | \`command\`, \`reason\`
PROVIDER_FAILED | A model could not be reached, answered with an error, or ended its reply early. A \`ProviderError\`: \`failure\` holds status, body and message without secrets. | If \`isRetryable\`, repeat the call after \`retryAfterMs\` (longhaul does so for its own calls, see [providers](integrations.md#providers)); otherwise the message names the reason. | \`provider\`, \`isRetryable\`, \`status\`, \`retryAfterMs\`
PROVIDER_REFUSED | The model or its content filter refused this prompt. A \`ProviderError\`, with \`usage\` if the call was billed. | Ask another model, or change the prompt. | \`provider\`, \`isRetryable\`, \`reason\`, \`status\`
PROVIDER_TIMEOUT | A model sent nothing, stopped sending, or did not finish in time. A \`ProviderError\`. | Repeat the call, or raise the timeout that the message names. | \`provider\`, \`isRetryable\`, \`phase\`, \`timeoutMs\`
PROVIDER_UNCONFIGURED | A package, key or address is missing, or the address is not a URL. | Follow the message. | \`provider\`, \`variable\`, \`package\`
SCHEMA_TOO_NEW | A newer longhaul wrote this store. | Update longhaul. | \`path\`, \`found\`, \`known\`
SERVICE_FAILED | \`longhaul service\` cannot manage a service on this system, or the service manager reported an error. A failed install is undone. | The message holds the output of the service manager and the remedy. | \`command\`, \`platform\`
SESSION_HAS_CHILDREN | The session to delete still has children or forks. | Delete them first, or pass \`{ recursive: true }\`. | \`session\`
SESSION_LIMIT | A store holds at most 8,388,607 sessions, and a session at most 1,073,741,823 entries. | Open a store in another folder, or fork the session. | \`session\`
SESSION_NOT_FOUND | The session was never created, or was deleted. | Check the id. | \`session\`
SOURCE_CONFLICT | Two files hold different conversations with the same id; the one that was imported first stays as it is, and nothing of the other is stored. | The message names both files. Give one of them another id, or delete the session of the other. | \`path\`, \`otherPath\`, \`session\`
SOURCE_UNREADABLE | A file or folder to import, index or watch cannot be read: it is missing, not a database, outside the named paths, or a compressed file that unpacks to an excessive size. | The message names the file and the reason. Other sources are still imported. | \`path\`, \`isDamaged\` if the content before the damage is good
STORE_BUSY | Other processes held the write lock longer than \`busyTimeoutMs\` (30 s). | Repeat the call; look for a hanging process. | \`path\`
STORE_CORRUPT | The database is damaged, lacks a table, is empty although blobs exist, or is not an SQLite file; or the end of a session cannot be read. A single damaged entry throws nothing: readers yield an entry of kind \`damaged\` in its place. | \`longhaul check\` lists the damage, and \`longhaul repair\` copies everything readable into a new store; otherwise restore a backup. | \`path\`, \`session\`
STORE_FOREIGN | The file or schema is that of another program, the server is too old, or the target of a move has conversations of its own. | Use a separate folder or schema for longhaul. | \`path\`, \`store\`
STORE_IO | The operating system failed to read or write, or the database server could not be reached. | Look at \`cause\`; check disk and path, or the server and its URL. | \`path\`, \`store\`, \`sqlState\`
STORE_READ_ONLY | The folder or file is not writable because of permissions or a read-only disk, or the store was opened with \`readOnly\`. | Make it writable for this user, or open it with \`readOnly: true\` to read it. | \`path\`, \`found\`
TASK_CONFLICT | The task has changed: its id is taken, it has ended, or another process has taken it over. | \`kernel.tasks.status(id)\` returns its current state. | \`task\`
TASK_FAILED | A task that \`tasks.run\` waited for failed or was killed; returned as \`error\`, never thrown. \`cause\` is the error of its agent. | Read \`cause\`, and \`reason\`: \`error\`, \`budget\`, \`deadline\`, \`loop\`… | \`task\`, \`state\`, \`reason\`
TASK_LIMIT | Too many tasks wait or run in this process. | Wait for some of them, or raise \`tasks.limits.maxTasks\`. | \`maxTasks\`
TASK_NOT_FOUND | The task was never created, or was deleted with its session. | Check the id. | \`task\`
VALUE_REFUSED | The database cannot hold a value of the write, such as a null byte in an id. Other writes are not affected. | Correct the value that the reason names. | \`path\` or \`store\`, \`sqlState\`
WINDOW_FLOOR | The protected content (system prompt, tools, pins, the first request, the last exchange) is larger than the model accepts. | Unpin something, shorten the last message, set \`oversize: "clip"\`, or use a model with a larger window. | \`floorTokens\`, \`mostTokens\`, \`model\`
WINDOW_OVERFLOW | The provider still refused the window after three smaller ones, or the window cannot be made smaller, or a caller requests again more output than fits next to the messages. | The message names the case; use a model with a larger window, or request at most \`maxOutputTokens\`. | \`model\`, \`maxOutputTokens\`
WINDOW_STUCK | The window is too large, and the policy's edit leaves it too large and frees less than 5 % of it. | Choose another policy, or use a model with a larger window. | \`policy\`, \`tokens\`, \`mostTokens\`
WORKTREE_REFUSED | The worktree cannot be created or used: \`not-a-repository\`, \`no-commits\`, \`base-unknown\`, \`branch-taken\`, \`branch-invalid\`, \`gone\`, \`busy\`. | The message names the case. | \`reason\`, \`path\`
`;

/** The guides to all codes, for `longhaul help CODE` and docs/errors.md. */
export function listErrorGuides(): readonly ErrorGuide[] {
  return GUIDES.trim()
    .split("\n")
    .map((line) => {
      const [code = "", meaning = "", remedy = "", details = ""] = line
        .split(" |")
        .map((cell) => cell.trim());
      return { code: code as ErrorCode, meaning, remedy, details };
    });
}

/** The guide to a code as plain text; undefined if there is no such code. */
export function formatErrorGuide(word: string): string | undefined {
  const code = ERROR_CODES.find((one) => one === word.toUpperCase());
  const guide = listErrorGuides().find((one) => one.code === code);
  if (guide === undefined) return undefined;
  const plain = (text: string) => text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return `${guide.code}: ${plain(guide.meaning)}\n\n${plain(guide.remedy)}\n`;
}
