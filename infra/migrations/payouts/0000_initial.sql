CREATE SCHEMA IF NOT EXISTS "payouts";
--> statement-breakpoint
CREATE TABLE "payouts"."anomalies" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"object" text NOT NULL,
	"payout_id" text,
	"says" text NOT NULL,
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payouts"."payouts" (
	"id" text PRIMARY KEY NOT NULL,
	"wallet" text NOT NULL,
	"state" text NOT NULL,
	"rate_minor_per_usd" numeric(78,0) NOT NULL,
	"ausd_micro" numeric(78,0) NOT NULL,
	"fiat_minor" numeric(78,0) NOT NULL,
	"quote_id" text NOT NULL,
	"taken_by" text NOT NULL,
	"authorizer" text NOT NULL,
	"authorization_nonce" text NOT NULL,
	"authorization" jsonb NOT NULL,
	"channel_code" text NOT NULL,
	"bank_details" text NOT NULL,
	"bank_details_key_id" text NOT NULL,
	"provider_payout_id" text,
	"provider_status" text,
	"failure_code" text,
	"reason" text,
	"take_tx_hash" text,
	"return_tx_hash" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"attempted_at" timestamp (3) with time zone,
	"paid_at" timestamp (3) with time zone,
	"look_at" timestamp (3) with time zone,
	"looks" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payouts_quote" UNIQUE("quote_id"),
	CONSTRAINT "payouts_authorization" UNIQUE("authorizer","authorization_nonce"),
	CONSTRAINT "payouts_provider_payout" UNIQUE("provider_payout_id"),
	CONSTRAINT "payouts_state" CHECK ("payouts"."payouts"."state" in ('taking', 'taken', 'paying', 'paid', 'failed', 'returning', 'returned')),
	CONSTRAINT "payouts_amounts" CHECK ("payouts"."payouts"."ausd_micro" > 0 and "payouts"."payouts"."fiat_minor" > 0),
	CONSTRAINT "payouts_attempted" CHECK ("payouts"."payouts"."attempts" = 0 or "payouts"."payouts"."attempted_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "payouts"."dead_letter" (
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
CREATE TABLE "payouts"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "payouts"."outbox" (
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
CREATE INDEX "payouts_look" ON "payouts"."payouts" USING btree ("look_at") WHERE "payouts"."payouts"."look_at" is not null;--> statement-breakpoint
CREATE INDEX "payouts_activity" ON "payouts"."payouts" USING btree ("wallet","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "payouts"."outbox" USING btree ("position") WHERE "payouts"."outbox"."published_at" is null;