// What approvals by mail need on AWS: a key from which link secrets are derived, a sender, and the right to release
// the state that waits.
import { Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { IEmailIdentity } from "aws-cdk-lib/aws-ses";
import { Construct } from "constructs";
import type { HandlerFunction } from "./handler-function.ts";

export type MailProps = {
  /** "Name <address>" or an address. */
  from: string;
  /** The verified identity that it belongs to. */
  identity: IEmailIdentity;
};

export type ApprovalsProps = {
  /** @default nobody is mailed; approvals are decided by signed-in people */
  mail?: MailProps;
};

export class Approvals extends Construct {
  /** Changing it makes every open link useless. */
  readonly signingKey: Secret;
  readonly #mail: MailProps | undefined;

  constructor(scope: Construct, id: string, props: ApprovalsProps = {}) {
    super(scope, id);
    this.#mail = props.mail;
    this.signingKey = new Secret(this, "SigningKey", {
      description: "Key from which the secrets of approval links are derived",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    Validations.of(this.signingKey).acknowledge({
      id: "AwsSolutions-SMG4",
      reason:
        "Links of open approvals are derived from it and stay valid for days: it is rotated by hand, when none is open.",
    });
  }

  /** Lets a function (made with the secrets extension) mail, make links to `publicUrl` and release what waits for people. */
  bind(to: HandlerFunction, publicUrl: string | undefined, stateMachineArn: string): void {
    const { handler, role } = to;
    handler.addEnvironment("BATON_SIGNING_SECRET", this.signingKey.secretArn);
    if (publicUrl) handler.addEnvironment("BATON_PUBLIC_URL", publicUrl);
    this.signingKey.grantRead(role);
    role.addToPolicy(
      new PolicyStatement({ sid: "Release", actions: ["states:SendTaskSuccess"], resources: [stateMachineArn] }),
    );
    if (!this.#mail) return;
    handler.addEnvironment("BATON_MAIL_FROM", this.#mail.from);
    role.addToPolicy(
      new PolicyStatement({
        sid: "Mail",
        actions: ["ses:SendEmail"],
        resources: [this.#mail.identity.emailIdentityArn],
      }),
    );
  }
}
