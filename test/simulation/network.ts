import { createRequire, syncBuiltinESMExports } from "node:module";
import { Duplex } from "node:stream";
import type { Actor, Machine } from "./machine.ts";

const require = createRequire(import.meta.url);

/** Faults of the network; each is a share of the pieces or connections. */
export interface NetworkFaults {
  cuts: number;
  /** Pieces that arrive in two. */
  splits: number;
  maxDelayMs: number;
}

/** One end of a connection between two actors. */
class VirtualSocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  readonly localAddress = "127.0.0.1";
  readonly remoteFamily = "IPv4";
  remotePort = 0;
  localPort = 0;
  connecting = true;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  peer: VirtualSocket | undefined;
  readonly #network: Network;
  readonly actor: Actor | undefined;
  readonly #lane: string;
  #idle: NodeJS.Timeout | undefined;
  /** When the newest thing on the way arrives; nothing overtakes it. */
  #arrivesAt = 0;

  constructor(network: Network, actor: Actor | undefined, lane: string) {
    super({ allowHalfOpen: false });
    this.#network = network;
    this.actor = actor;
    this.#lane = lane;
  }

  /** Arrives at this end, as its actor. */
  deliver(name: string, run: () => void): void {
    const { machine, faults } = this.#network;
    this.#arrivesAt = Math.max(this.#arrivesAt, machine.nowMs + machine.chance.next() * faults.maxDelayMs);
    machine.as(this.actor, () =>
      machine.schedule(this.#arrivesAt - machine.nowMs, this.#lane, name, () => {
        if (!this.destroyed) run();
      }),
    );
  }

  override _read(): void {
    // Bytes come when the peer sends them.
  }

  override _write(bytes: Buffer, encoding: string, done: (error?: Error | null) => void): void {
    if (this.connecting) return void this.once("connect", () => this._write(bytes, encoding, done));
    this.#send(bytes);
    done();
  }

  override _writev(
    pieces: readonly { readonly chunk: Buffer }[],
    done: (error?: Error | null) => void,
  ): void {
    if (this.connecting) return void this.once("connect", () => this._writev(pieces, done));
    this.#send(Buffer.concat(pieces.map(({ chunk }) => Buffer.from(chunk))));
    done();
  }

  #send(bytes: Buffer): void {
    const { machine, faults } = this.#network;
    const { peer } = this;
    this.bytesWritten += bytes.length;
    this.#touch();
    if (!peer || peer.destroyed) return;
    if (machine.chance.chance(faults.cuts)) {
      machine.note(`the network cuts ${this.#lane}`);
      peer.deliver("cut", () => peer.destroy(createReset()));
      this.deliver("cut", () => this.destroy(createReset()));
      return;
    }
    const at = machine.chance.chance(faults.splits) ? machine.chance.below(bytes.length) : 0;
    for (const piece of at > 0 ? [bytes.subarray(0, at), bytes.subarray(at)] : [bytes])
      peer.deliver(`${piece.length} bytes`, () => {
        peer.bytesRead += piece.length;
        peer.#touch();
        peer.push(piece);
      });
  }

  override _final(done: (error?: Error | null) => void): void {
    const { peer } = this;
    peer?.deliver("end", () => peer.push(null));
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { peer } = this;
    clearTimeout(this.#idle);
    peer?.deliver("close", () => (error ? peer.destroy(createReset()) : peer.push(null)));
    // A peer that goes on writing to a closed end is reset.
    peer?.deliver("gone", () => peer.destroy());
    done(error);
  }

  setTimeout(ms: number, listener?: () => void): this {
    this.timeout = ms;
    if (listener) this.once("timeout", listener);
    this.#touch();
    return this;
  }

  #touch(): void {
    clearTimeout(this.#idle);
    if (this.timeout > 0 && !this.destroyed)
      this.#idle = setTimeout(() => this.emit("timeout"), this.timeout);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  resetAndDestroy(): this {
    return this.destroy(createReset());
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address() {
    return { address: this.localAddress, port: this.localPort, family: "IPv4" };
  }
}

function createReset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
}

/** Connections between actors without sockets of the system: Node's own HTTP runs over them. */
export class Network {
  readonly machine: Machine;
  readonly faults: NetworkFaults = { cuts: 0, splits: 0.2, maxDelayMs: 5 };
  readonly #servers = new Map<
    number,
    { readonly server: import("node:net").Server; readonly actor: Actor | undefined }
  >();
  #nextPort = 20_000;
  #connections = 0;

  constructor(machine: Machine) {
    this.machine = machine;
    this.#takeOver();
  }

  #connect(port: number): VirtualSocket {
    const { machine } = this;
    const number = ++this.#connections;
    const here = new VirtualSocket(this, machine.actor, `to ${port} (${number})`);
    here.remotePort = port;
    here.localPort = 40_000 + number;
    here.deliver("connection", () => {
      const target = this.#servers.get(port);
      if (!target || target.actor?.isDead) {
        here.destroy(
          Object.assign(new Error(`connect ECONNREFUSED 127.0.0.1:${port}`), {
            code: "ECONNREFUSED",
            syscall: "connect",
          }),
        );
        return;
      }
      machine.as(target.actor, () => {
        const there = new VirtualSocket(this, target.actor, `from ${number}`);
        there.connecting = false;
        there.localPort = port;
        there.remotePort = here.localPort;
        [here.peer, there.peer] = [there, here];
        const mourn = (left: VirtualSocket) => () => left.deliver("reset", () => left.destroy(createReset()));
        target.actor?.onDeath.add(mourn(here));
        here.actor?.onDeath.add(mourn(there));
        target.server.emit("connection", there);
      });
      here.connecting = false;
      here.emit("connect");
      here.emit("ready");
    });
    return here;
  }

  #takeOver(): void {
    const network = this;
    const net = require("node:net");
    const http = require("node:http");
    const { listen, close, address } = net.Server.prototype;
    const ports = new WeakMap<object, number>();
    net.Server.prototype.listen = function (this: import("node:net").Server, ...args: unknown[]) {
      if (!network.machine.actor) return listen.apply(this, args);
      const port = network.#nextPort++;
      ports.set(this, port);
      network.#servers.set(port, { server: this, actor: network.machine.actor });
      const done = args.findLast((one) => typeof one === "function") as (() => void) | undefined;
      if (done) this.once("listening", done);
      // Outside of the actor, Node's check for slow connections, which are none of ours, takes no virtual time.
      network.machine.schedule(0, `listen ${port}`, "listening", () =>
        network.machine.as(undefined, () => this.emit("listening")),
      );
      return this;
    };
    net.Server.prototype.address = function (this: object) {
      const port = ports.get(this);
      return port === undefined ? address.call(this) : { port, address: "127.0.0.1", family: "IPv4" };
    };
    net.Server.prototype.close = function (this: import("node:net").Server, done?: () => void) {
      const port = ports.get(this);
      if (port === undefined) return close.call(this, done);
      network.#servers.delete(port);
      network.machine.schedule(0, `listen ${port}`, "closed", () => {
        this.emit("close");
        done?.();
      });
      return this;
    };
    // The tables of the kernel know nothing of these connections.
    const fs = require("node:fs/promises");
    const { readFile } = fs;
    fs.readFile = (path: unknown, ...rest: unknown[]) =>
      String(path).startsWith("/proc/net/") ? Promise.reject(new Error("no table")) : readFile(path, ...rest);
    http.Agent.prototype.createConnection = (options: { readonly port: number }) =>
      network.#connect(Number(options.port));
    syncBuiltinESMExports();
  }
}
