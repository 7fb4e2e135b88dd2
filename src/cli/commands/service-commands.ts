import { type CommandGroup, defineCommand } from "../cli-command.ts";
import { installService } from "../service/install-service.ts";
import { showService } from "../service/show-service.ts";
import { uninstallService } from "../service/uninstall-service.ts";

const installCommand = defineCommand({
  name: "service install",
  summary: "start the gateway at login, as a service of systemd or launchd",
  usage: ["service install [--yes] [--dry-run] [--config FILE]"],
  about:
    "Shows the service file and the commands, and installs it when you agree. The service belongs to your user and needs no superuser. Without a service manager, it fails and changes nothing.",
  options: {
    "dry-run": { type: "boolean", help: "show the file and the commands; change nothing" },
    yes: { type: "boolean", short: "y", help: "install without asking" },
    config: {
      type: "string",
      value: "FILE",
      help: "configuration of the gateway (default: that of the store)",
    },
  },
  maxOperands: 0,
  examples: ["longhaul service install", "longhaul service install --dry-run"],
  run: (context, { options }) => installService(context, options),
});

const statusCommand = defineCommand({
  name: "service status",
  summary: "show whether the service runs and the gateway answers",
  usage: ["service status"],
  about: "The exit code is 0 if a gateway answers at the configured address, else 1.",
  options: {},
  maxOperands: 0,
  examples: ["longhaul service status", "longhaul service status --json"],
  run: (context, { options }) => showService(context, options),
});

const uninstallCommand = defineCommand({
  name: "service uninstall",
  summary: "stop the service and remove its file; the store stays",
  usage: ["service uninstall"],
  options: {},
  maxOperands: 0,
  examples: ["longhaul service uninstall"],
  run: (context, { options }) => uninstallService(context, options),
});

/** Commands that run the gateway as a service of the user. */
export const serviceCommands: CommandGroup = {
  name: "service",
  summary: "run the gateway as a service that starts at login",
  commands: {
    install: async () => installCommand,
    status: async () => statusCommand,
    uninstall: async () => uninstallCommand,
  },
  examples: ["longhaul service install", "longhaul service status", "longhaul service uninstall"],
};
