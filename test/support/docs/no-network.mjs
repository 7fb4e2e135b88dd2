// Loaded before a program of a page: every connection fails.
import { Socket } from "node:net";

Socket.prototype.connect = () => {
  throw new Error("A program of a page opened a connection.");
};
