CREATE SCHEMA IF NOT EXISTS "gateway";
--> statement-breakpoint
CREATE TABLE "gateway"."identities" (
	"wallet" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"provider" text NOT NULL,
	"provider_ref" text,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"revision" numeric(78,0),
	"flag_settled_at" timestamp (3) with time zone,
	"drip_ordered_at" timestamp (3) with time zone,
	"drip_settled_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"failure" text,
	"sweeps" integer DEFAULT 0 NOT NULL,
	"sweep_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway"."dead_letter" (
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
CREATE TABLE "gateway"."inbox" (
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"done_at" timestamp (3) with time zone,
	CONSTRAINT "inbox_consumer_message_id_pk" PRIMARY KEY("consumer","message_id")
);
--> statement-breakpoint
CREATE TABLE "gateway"."outbox" (
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
CREATE TABLE "gateway"."users" (
	"wallet" text PRIMARY KEY NOT NULL,
	"country" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "identities_awaited" ON "gateway"."identities" USING btree ("sweep_at");--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "gateway"."outbox" USING btree ("position") WHERE "gateway"."outbox"."published_at" is null;