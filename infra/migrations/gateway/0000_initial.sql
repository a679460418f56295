CREATE SCHEMA IF NOT EXISTS "gateway";
--> statement-breakpoint
CREATE TABLE "gateway"."identity_anomalies" (
	"delivery_id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"provider" text NOT NULL,
	"detail" text NOT NULL,
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway"."identities" (
	"wallet" text PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"provider" text NOT NULL,
	"provider_ref" text,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"first_verified_at" timestamp (3) with time zone,
	"same_as" text,
	"named" text[] DEFAULT '{}' NOT NULL,
	"revision" numeric(78,0),
	"flag_settled_at" timestamp (3) with time zone,
	"flag_failed_at" timestamp (3) with time zone,
	"drip_ordered_at" timestamp (3) with time zone,
	"drip_settled_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone,
	"failure" text,
	"sweeps" integer DEFAULT 0 NOT NULL,
	"check_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway"."identity_links" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"wallet" text NOT NULL,
	"provider" text NOT NULL,
	"provider_ref" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway"."persons" (
	"wallet" text PRIMARY KEY NOT NULL,
	"ruling" text NOT NULL,
	"linked_to" text,
	"deed" uuid NOT NULL,
	"replaced" uuid,
	"ruled_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "persons_ruling" CHECK ("gateway"."persons"."ruling" in ('allowed', 'linked')),
	CONSTRAINT "persons_linked" CHECK (("gateway"."persons"."ruling" = 'linked') = ("gateway"."persons"."linked_to" is not null))
);
--> statement-breakpoint
CREATE TABLE "gateway"."identity_rechecks" (
	"wallet" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"linked_at" timestamp (3) with time zone,
	"progress" text,
	"progressed_at" timestamp (3) with time zone,
	"next_check_at" timestamp (3) with time zone,
	"checked_at" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gateway"."reminders" (
	"wallet" text NOT NULL,
	"cycle" integer NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "reminders_wallet_cycle_kind_pk" PRIMARY KEY("wallet","cycle","kind")
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
CREATE INDEX "identities_awaited" ON "gateway"."identities" USING btree ("check_at") WHERE "gateway"."identities"."check_at" is not null;--> statement-breakpoint
CREATE INDEX "identities_duplicate" ON "gateway"."identities" USING btree ("decided_at") WHERE "gateway"."identities"."state" = 'duplicate';--> statement-breakpoint
CREATE INDEX "identities_named" ON "gateway"."identities" USING gin ("named");--> statement-breakpoint
CREATE INDEX "identities_failed" ON "gateway"."identities" USING btree ("failed_at") WHERE "gateway"."identities"."failed_at" is not null;--> statement-breakpoint
CREATE INDEX "identity_links_wallet" ON "gateway"."identity_links" USING btree ("wallet","created_at");--> statement-breakpoint
CREATE INDEX "identity_rechecks_due" ON "gateway"."identity_rechecks" USING btree ("next_check_at");--> statement-breakpoint
CREATE INDEX "identity_rechecks_unanswered" ON "gateway"."identity_rechecks" USING btree ("failures") WHERE "gateway"."identity_rechecks"."failures" > 0;--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "gateway"."dead_letter" USING btree ("consumer") WHERE "gateway"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "gateway"."inbox" USING btree ("consumer","done_at") WHERE "gateway"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "outbox_unpublished" ON "gateway"."outbox" USING btree ("position") WHERE "gateway"."outbox"."published_at" is null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "gateway"."outbox" USING btree ("published_at") WHERE "gateway"."outbox"."published_at" is not null;