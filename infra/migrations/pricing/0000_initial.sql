CREATE SCHEMA IF NOT EXISTS "pricing";
--> statement-breakpoint
CREATE TABLE "pricing"."quotes_taken" (
	"id" uuid PRIMARY KEY NOT NULL,
	"request_fingerprint" text NOT NULL,
	"taken_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
