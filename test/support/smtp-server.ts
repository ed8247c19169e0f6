// A real SMTP server on loopback that also misbehaves, one behaviour a connection, in the given order; after
// the last it accepts. What it received is kept as bytes, also where it then said no.
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export type SmtpBehaviour =
  | "accept"
  /** Takes the whole mail, then answers 503. */
  | "take-then-503"
  /** Takes the whole mail, then drops the connection without an answer. */
  | "take-then-drop"
  /** Drops the connection when the mail begins. */
  | "drop"
  /** Takes the whole mail and says nothing. */
  | "take-then-hang"
  /** 451 to the recipient. */
  | "greylist"
  /** 550 to the recipient, quoting it. */
  | "no-such-user"
  /** 554 to the mail. */
  | "spam"
  /** 530 to the recipient: sign in first. */
  | "sign-in-first";

export type SmtpStandIn = {
  port: number;
  received: { from: string; to: string[]; bytes: Buffer; accepted: boolean }[];
  close(): Promise<void>;
};

export async function startSmtpServer(
  options: { behaviours?: SmtpBehaviour[]; credentials?: { user: string; pass: string } } = {},
): Promise<SmtpStandIn> {
  const { credentials } = options;
  const received: SmtpStandIn["received"] = [];
  const sockets = new Map<number, Socket>();
  const plan = [...(options.behaviours ?? [])];
  const bySession = new Map<string, SmtpBehaviour>();

  const server = new SMTPServer({
    authOptional: !credentials,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    logger: false,
    onConnect(session, done) {
      bySession.set(session.id, plan.shift() ?? "accept");
      done();
    },
    onAuth(auth, _session, done) {
      if (auth.username === credentials?.user && auth.password === credentials?.pass)
        done(null, { user: auth.username });
      else done(reply(535, "5.7.8 wrong password"));
    },
    onRcptTo(address, session, done) {
      const behaviour = bySession.get(session.id);
      if (behaviour === "greylist") done(reply(451, "4.7.1 greylisted, try again later"));
      else if (behaviour === "no-such-user") done(reply(550, `5.1.1 <${address.address}> unknown`));
      else if (behaviour === "sign-in-first") done(reply(530, "5.7.0 sign in first"));
      else done();
    },
    onData(stream, session, done) {
      const behaviour = bySession.get(session.id) ?? "accept";
      const socket = sockets.get(session.remotePort);
      if (behaviour === "drop") {
        socket?.destroy();
        return;
      }
      void buffer(stream).then((bytes) => {
        const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : "";
        const to = session.envelope.rcptTo.map((recipient) => recipient.address);
        received.push({ from, to, bytes, accepted: behaviour === "accept" });
        if (behaviour === "take-then-drop") socket?.destroy();
        else if (behaviour === "take-then-503") done(reply(503, "5.5.1 bad sequence"));
        else if (behaviour === "spam") done(reply(554, "5.7.1 looks like spam"));
        else if (behaviour !== "take-then-hang") done();
      });
    },
  });
  // A connection that breaks is what these tests are about.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  server.server.on("connection", (socket: Socket) => {
    const port = socket.remotePort ?? 0;
    sockets.set(port, socket);
    socket.on("close", () => sockets.delete(port));
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.values()) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
