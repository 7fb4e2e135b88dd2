import { join } from "node:path";
import { LonghaulError } from "../../kernel/index.ts";

/** Command line of the service. */
export interface ServiceCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly home: string;
  /** Log files of launchd go here; systemd has its own log. */
  readonly store: string;
}

export const UNIT_NAME = "longhaul.service";
export const LAUNCHD_LABEL = "longhaul.gateway";
/** First words of every file that longhaul writes, so that it never replaces a file of the user's own. */
export const SERVICE_MARK = 'Written by "longhaul service install"';

/** Builds the unit of systemd. */
export function buildSystemdUnit({ program, args }: ServiceCommand): string {
  return `# ${SERVICE_MARK}; "longhaul service uninstall" removes it.
[Unit]
Description=longhaul gateway: memory for AI agents

[Service]
# The C library keeps memory for each thread otherwise: docs/deploying.md, "Memory".
Environment=MALLOC_ARENA_MAX=1
ExecStart=${[program, ...args].map(quoteUnitWord).join(" ")}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
TimeoutStopSec=30
NoNewPrivileges=true
UMask=0077

[Install]
WantedBy=default.target
`;
}

/** Builds the property list of launchd. */
export function buildLaunchdPlist({ program, args, home, store }: ServiceCommand): string {
  const words = [program, ...args].map((word) => `    <string>${escapeXml(word)}</string>`).join("\n");
  const log = escapeXml(join(store, "gateway.log"));
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${SERVICE_MARK}; "longhaul service uninstall" removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(home)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>5</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>${log}</string>
  <key>StandardErrorPath</key>
  <string>${log}</string>
</dict>
</plist>
`;
}

/** Quotes a word for systemd, which expands % and $ even in quotes. A line break would begin another setting. */
function quoteUnitWord(word: string): string {
  refuseControls(word);
  const expanded = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  if (/^[\w@+=:,./%$-]+$/.test(expanded)) return expanded;
  return `"${expanded.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Refuses characters that no path of a service needs, and that a definition cannot hold. */
function refuseControls(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
  if (!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) return;
  throw new LonghaulError(
    "SERVICE_FAILED",
    `${JSON.stringify(text.slice(0, 200))} has a line break or another control character, which a service cannot be started with; choose another path.`,
  );
}

function escapeXml(text: string): string {
  refuseControls(text);
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
