ALTER TABLE "ops"."outcomes" ADD COLUMN "asked_by" text;--> statement-breakpoint
ALTER TABLE "ops"."outcomes" ADD COLUMN "reason" text;