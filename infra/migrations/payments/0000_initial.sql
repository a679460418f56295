CREATE SCHEMA IF NOT EXISTS "payments";
--> statement-breakpoint
CREATE TABLE "payments"."anomalies" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"account" text NOT NULL,
	"object" text NOT NULL,
	"payment_id" text,
	"currency" text,
	"amount_minor" numeric(78,0),
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payments"."payments" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"wallet" text NOT NULL,
	"pair" text NOT NULL,
	"currency" text NOT NULL,
	"rate_minor_per_usd" numeric(78,0) NOT NULL,
	"fiat_minor" numeric(78,0) NOT NULL,
	"ausd_micro" numeric(78,0) NOT NULL,
	"method" text,
	"quote_id" text NOT NULL,
	"taken_by" text NOT NULL,
	"account" text NOT NULL,
	"session_id" text,
	"checkout_url" text,
	"expires_at" timestamp (3) with time zone,
	"opening_until" timestamp (3) with time zone,
	"payment_request_id" text,
	"provider_payment_id" text,
	"channel" text,
	"held" boolean,
	"paid_minor" numeric(78,0),
	"paid_at" timestamp (3) with time zone,
	"refunded_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"overpaid_minor" numeric(78,0) DEFAULT 0 NOT NULL,
	"reason" text,
	"tx_hash" text,
	"look_at" timestamp (3) with time zone,
	"looks" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payments_quote" UNIQUE("quote_id"),
	CONSTRAINT "payments_session" UNIQUE("session_id"),
	CONSTRAINT "payments_provider_payment" UNIQUE("provider_payment_id"),
	CONSTRAINT "payments_kind" CHECK ("payments"."payments"."kind" in ('topup', 'settlement')),
	CONSTRAINT "payments_state" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'paid', 'held', 'credited', 'revoking', 'revoked', 'refunded', 'review', 'repaid')),
	CONSTRAINT "payments_pair" CHECK ("payments"."payments"."pair" = 'USD/' || "payments"."payments"."currency"),
	CONSTRAINT "payments_account" CHECK (("payments"."payments"."currency", "payments"."payments"."account") in (('IDR', 'ID'), ('MYR', 'MY'))),
	CONSTRAINT "payments_amounts" CHECK ("payments"."payments"."fiat_minor" > 0 and "payments"."payments"."ausd_micro" > 0 and "payments"."payments"."rate_minor_per_usd" > 0),
	CONSTRAINT "payments_back" CHECK ("payments"."payments"."refunded_minor" >= 0 and "payments"."payments"."overpaid_minor" >= 0),
	CONSTRAINT "payments_awaiting" CHECK ("payments"."payments"."state" <> 'awaiting_payment' or "payments"."payments"."checkout_url" is not null),
	CONSTRAINT "payments_evidence" CHECK ("payments"."payments"."state" in ('opening', 'awaiting_payment', 'expired', 'review') or "payments"."payments"."provider_payment_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "payments"."refunds" (
	"id" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"provider_payment_id" text NOT NULL,
	"refunded_minor" numeric(78,0) NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refunds_amount" CHECK ("payments"."refunds"."refunded_minor" >= 0)
);
--> statement-breakpoint
CREATE TABLE "payments"."dead_letter" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"reason" text NOT NULL,
	"died_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"redrive_requested_at" timestamp (3) with time zone,
	"redriven_at" timestamp (3) with time zone,
	CONSTRAINT "dead_letter_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payments"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payments"."outbox" (
	"id" text PRIMARY KEY NOT NULL,
	"position" bigserial NOT NULL,
	"subject" text NOT NULL,
	"payload" jsonb NOT NULL,
	"request_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"leased_until" timestamp (3) with time zone,
	"published_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "payments_look" ON "payments"."payments" USING btree ("look_at") WHERE "payments"."payments"."look_at" is not null;--> statement-breakpoint
CREATE INDEX "payments_activity" ON "payments"."payments" USING btree ("wallet","created_at","id");--> statement-breakpoint
CREATE INDEX "payments_request" ON "payments"."payments" USING btree ("payment_request_id");--> statement-breakpoint
CREATE INDEX "refunds_provider_payment" ON "payments"."refunds" USING btree ("provider_payment_id");--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "payments"."outbox" USING btree ("position") WHERE "payments"."outbox"."published_at" is null;