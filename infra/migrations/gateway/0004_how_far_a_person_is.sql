ALTER TABLE "gateway"."identity_rechecks" ADD COLUMN "progress" text;--> statement-breakpoint
ALTER TABLE "gateway"."identity_rechecks" ADD COLUMN "progressed_at" timestamp (3) with time zone;